"""What the made files say, in ten languages: the same report with other figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Report:
    """The parts of a report in one language."""

    language: str
    title: str
    paragraphs: Sequence[str]
    points: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    @property
    def table(self) -> Sequence[Sequence[str]]:
        """The names of the columns, and the rows."""
        return (self.columns, *self.rows)


_PARTS: Mapping[str, Sequence[str]] = {
    # title | paragraphs: 2, 3 | points: 4, 5, 6 | column names: 7, 8, 9 | places: 10, 11, 12
    "en": (
        "Harbour report",
        "The harbour office counted {0} ships in the spring and {1} in the autumn.",
        "Nobody expected such a storm; the café on the quay stayed closed for {2} days.",
        "Grease the winch every {0} hours",
        "Check the lamps after {1} nights",
        "Call the pilot {2} minutes before",
        "Quay", "Length in metres", "Tonnes a year", "North mole", "Old basin", "Ferry bridge",
    ),
    "de": (
        "Bericht über den Hafen",
        "Die Hafenbehörde zählte {0} Schiffe im Frühjahr und {1} im Herbst, größtenteils Küstenfrachter.",
        "Während des Sturms blieb die Brücke {2} Stunden lang für Fußgänger gesperrt.",
        "Die Winde alle {0} Stunden schmieren",
        "Lampen nach {1} Nächten prüfen",
        "Den Lotsen {2} Minuten früher anrufen",
        "Liegeplatz", "Länge in Metern", "Güter jährlich", "Nördliche Mole", "Altes Becken", "Fährbrücke",
    ),
    "fr": (
        "Rapport sur le port",
        "La capitainerie a compté {0} navires au printemps et {1} à l’automne, surtout des caboteurs français.",
        "Pendant la tempête, le pont levant est resté fermé {2} heures à cause des vagues élevées.",
        "Graisser le treuil toutes les {0} heures",
        "Vérifier les lampes après {1} nuits",
        "Appeler le pilote {2} minutes à l’avance",
        "Quai", "Longueur en mètres", "Tonnes par année", "Môle nord", "Vieux bassin", "Pont à péage",
    ),
    "es": (
        "Informe sobre el puerto",
        "La capitanía contó {0} buques en primavera y {1} en otoño, según el último boletín español.",
        "¿Cuántos días duró el temporal? El muelle pequeño estuvo cerrado {2} días por la lluvia.",
        "Engrasar el cabrestante cada {0} horas",
        "Revisar las lámparas después de {1} noches",
        "Llamar al práctico {2} minutos antes",
        "Muelle", "Extensión en metros", "Toneladas por año", "Dársena núm. uno", "Malecón viejo", "Peñón",
    ),
    "pl": (
        "Sprawozdanie o porcie",
        "Kapitanat policzył {0} statków wiosną i {1} jesienią, głównie żaglowce z północnego wybrzeża.",
        "Podczas sztormu most był zamknięty przez {2} godzin, ponieważ wiał bardzo silny wiatr.",
        "Smarować wciągarkę co {0} godzin",
        "Sprawdzać światła po {1} nocach",
        "Wezwać pilota {2} minut wcześniej",
        "Nabrzeże", "Długość w metrach", "Ładunki rocznie", "Północne molo", "Stary basen", "Przeprawa łódzka",
    ),
    "ru": (
        "Отчёт о порте",
        "Управление порта насчитало {0} судов весной и {1} осенью, в основном каботажные суда.",
        "Во время шторма мост был закрыт {2} часов, потому что дул очень сильный ветер.",
        "Смазывать лебёдку каждые {0} часов",
        "Проверять лампы после {1} ночей",
        "Вызывать лоцмана за {2} минут",
        "Причал", "Длина в метрах", "Тонн в год", "Северный мол", "Старый бассейн", "Паромный мост",
    ),
    "el": (
        "Έκθεση για το λιμάνι",
        "Το λιμεναρχείο μέτρησε {0} πλοία την άνοιξη και {1} το φθινόπωρο, κυρίως μικρά φορτηγά.",
        "Κατά την καταιγίδα η γέφυρα έμεινε κλειστή {2} ώρες επειδή φυσούσε πολύ δυνατός άνεμος.",
        "Λιπαίνετε το βαρούλκο κάθε {0} ώρες",
        "Ελέγχετε τα φώτα μετά από {1} νύχτες",
        "Καλέστε τον πλοηγό {2} λεπτά πριν",
        "Προβλήτα", "Μήκος σε μέτρα", "Τόνοι ετησίως", "Βόρειος μόλος", "Παλιά δεξαμενή", "Γέφυρα πορθμείων",
    ),
    "ar": (
        "تقرير عن الميناء",
        "أحصت إدارة الميناء {0} سفينة في الربيع و {1} في الخريف، معظمها سفن ساحلية صغيرة.",
        "أثناء العاصفة بقي الجسر مغلقا {2} ساعة لأن الرياح كانت قوية جدا على الرصيف.",
        "شحم الرافعة كل {0} ساعة",
        "افحص المصابيح بعد {1} ليلة",
        "اتصل بالمرشد قبل {2} دقيقة",
        "الرصيف", "الطول بالأمتار", "الأطنان سنويا", "الرصيف الشمالي", "الحوض القديم", "جسر العبارات",
    ),
    "ja": (
        "港の報告",
        "港湾局は春に {0} 隻、秋に {1} 隻の船を数えました。ほとんどは沿岸を走る貨物船です。",
        "嵐のあいだ、強い風のために橋は {2} 時間閉鎖されました。",
        "巻き上げ機に {0} 時間ごとに油をさす",
        "{1} 夜のあとにランプを確かめる",
        "{2} 分前に水先案内人を呼ぶ",
        "岸壁", "長さ（メートル）", "年間トン数", "北の防波堤", "古い船だまり", "フェリー橋",
    ),
    "zh": (
        "港口报告",
        "港务局在春季统计了 {0} 艘船，在秋季统计了 {1} 艘，其中大部分是沿海货船。",
        "暴风雨期间，由于风力很强，大桥关闭了 {2} 个小时。",
        "每 {0} 小时给绞车上油",
        "{1} 个夜晚之后检查灯具",
        "提前 {2} 分钟呼叫领航员",
        "码头", "长度（米）", "每年吨数", "北防波堤", "旧港池", "渡轮桥",
    ),
}  # fmt: skip
LANGUAGES = tuple(_PARTS)


def report(language: str, seed: int = 0) -> Report:
    """The report in that language; another seed gives it other figures."""
    random = Random(f"{language}{seed}")
    parts = [part.format(*(random.randrange(20, 9_999) for _ in range(3))) for part in _PARTS[language]]
    return Report(
        language,
        parts[0],
        parts[1:3],
        parts[3:6],
        parts[6:9],
        [[place, str(random.randrange(20, 900)), str(random.randrange(1_000, 99_999))] for place in parts[9:12]],
    )
