"""Estimates the yearly energy of a Corrand Tidal array from the speed of the tidal stream.

Used by the planning team since March 2022. Owner: Emrys Tolvane. The method is deliberately simple: the stream is taken
as a sine wave whose peak swings between neaps and springs, the turbine follows the cube law up to rated speed and stays
at rated power above it. Results agree with metered output within 5 % for Brannoch Sound and 8 % for Skelder Narrows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

SEAWATER_DENSITY = 1025.0
"""Kilograms per cubic metre at 10 degrees Celsius and normal salinity."""

SPRING_NEAP_DAYS = 14.77
"""Length of the spring-neap cycle in days."""

HOURS_PER_YEAR = 8766
WAKE_LOSS = 0.06
CABLE_LOSS = 0.02
DEFAULT_AVAILABILITY = 0.93


@dataclass(frozen=True)
class Turbine:
    """What the estimate needs to know of a turbine type."""

    name: str
    rated_kw: float
    rated_speed: float
    cut_in_speed: float
    rotor_diameter: float

    @property
    def swept_area(self) -> float:
        """Area of the rotor disc in square metres."""
        return math.pi * self.rotor_diameter**2 / 4

    @property
    def power_coefficient(self) -> float:
        """Share of the stream's power that is captured at rated speed; about 0.37 for both of our types."""
        stream_watts = 0.5 * SEAWATER_DENSITY * self.swept_area * self.rated_speed**3
        return self.rated_kw * 1000 / stream_watts

    def power_kw(self, speed: float) -> float:
        """Output in kilowatts at a flow speed in metres per second, whichever way the stream runs."""
        flow = abs(speed)
        if flow < self.cut_in_speed:
            return 0.0
        return self.rated_kw * min(1.0, (flow / self.rated_speed) ** 3)


@dataclass(frozen=True)
class Site:
    """An array: how many turbines of which type, and how fast the water runs there."""

    name: str
    turbine: Turbine
    count: int
    spring_peak: float
    neap_peak: float


KELPIE_600 = Turbine("Kelpie 600", 600, 2.4, 0.8, 17.0)
SELKIE_1200 = Turbine("Selkie 1200", 1200, 2.7, 0.9, 20.0)

SITES = (
    Site("Brannoch Sound", KELPIE_600, 8, spring_peak=3.1, neap_peak=1.7),
    Site("Skelder Narrows", SELKIE_1200, 5, spring_peak=3.6, neap_peak=1.9),
    Site("Otter Voe", SELKIE_1200, 2, spring_peak=3.2, neap_peak=1.8),
)


def stream_speed(site: Site, hours: float) -> float:
    """Speed of the stream, positive on the flood, a number of hours after a spring high water."""
    swing = (1 + math.cos(2 * math.pi * hours / 24 / SPRING_NEAP_DAYS)) / 2
    peak = site.neap_peak + (site.spring_peak - site.neap_peak) * swing
    return peak * math.sin(2 * math.pi * hours / 12.42)


def annual_yield_mwh(site: Site, availability: float = DEFAULT_AVAILABILITY) -> float:
    """Energy at the meter in an average year, in megawatt-hours, stepping through the year in quarters of an hour."""
    steps = HOURS_PER_YEAR * 4
    energy_kwh = sum(site.turbine.power_kw(stream_speed(site, step / 4)) / 4 for step in range(steps))
    return energy_kwh * site.count * availability * (1 - WAKE_LOSS) * (1 - CABLE_LOSS) / 1000


def capacity_factor(site: Site, availability: float = DEFAULT_AVAILABILITY) -> float:
    """Share of the energy that the site would give at rated power all year."""
    rated_mwh = site.turbine.rated_kw * site.count * HOURS_PER_YEAR / 1000
    return annual_yield_mwh(site, availability) / rated_mwh
