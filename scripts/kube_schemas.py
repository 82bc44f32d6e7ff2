"""Writes the strict schemas by which kubeconform judges the rendered chart, of the Go modules of Kubernetes and KEDA
(`scripts/check-deployment` fetches them): ``python -m scripts.kube_schemas $(go env GOMODCACHE) FOLDER``.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

KUBERNETES = Path("k8s.io/kubernetes@v1.30.14/api/openapi-spec/swagger.json")
KEDA = Path("github.com/kedacore/keda/v2@v2.17.2/config/crd/bases")
KINDS = {
    *("Deployment", "Job", "Service", "Ingress", "NetworkPolicy", "PodDisruptionBudget", "HorizontalPodAutoscaler"),
    "PersistentVolumeClaim",
}
REFERENCE = re.compile(r'"#/definitions/([^"]+)"')
Schema = Mapping[str, Any]


def strict(node: Any) -> Any:
    """A schema that takes no field it does not name."""
    if isinstance(node, list):
        return [strict(one) for one in node]
    if not isinstance(node, dict):
        return node
    if node.get("format") == "int-or-string" or node.get("x-kubernetes-int-or-string"):
        return {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    closed = {name: strict(one) for name, one in node.items() if name != "description" or not isinstance(one, str)}
    if "properties" in node and not node.get("x-kubernetes-preserve-unknown-fields"):
        closed.setdefault("additionalProperties", False)
    return closed


def of_kubernetes(definitions: Mapping[str, Schema]) -> Iterator[tuple[str, Schema]]:
    """The file name of each kind, as kubeconform looks for it, and its schema."""
    for name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", ()):
            if name.startswith("io.k8s.api.") and kind["kind"] in KINDS:
                group = kind["group"].partition(".")[0]
                reached = {one: strict(definitions[one]) for one in _reached(definitions, name)}
                file = "-".join(one for one in (kind["kind"].lower(), group, kind["version"]) if one)
                yield file, {"$ref": f"#/definitions/{name}", "definitions": reached}


def _reached(definitions: Mapping[str, Schema], name: str) -> set[str]:
    found, left = set[str](), [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += REFERENCE.findall(json.dumps(definitions[one]))
    return found


def of_keda(folder: Path) -> Iterator[tuple[str, Schema]]:
    """The same of custom resources."""
    for path in sorted(folder.glob("keda.sh_*.yaml")):
        resource = yaml.safe_load(path.read_text("utf-8"))["spec"]
        for version in resource["versions"]:
            schema = strict(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}
            yield f"{resource['names']['kind'].lower()}-keda-{version['name']}", schema


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(prog="python -m scripts.kube_schemas", description=__doc__)
    parser.add_argument("modules", type=Path, help="where Go keeps modules (go env GOMODCACHE)")
    parser.add_argument("folder", type=Path, help="where to write the schemas")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    definitions = json.loads((given.modules / KUBERNETES).read_text("utf-8"))["definitions"]
    for name, schema in (*of_kubernetes(definitions), *of_keda(given.modules / KEDA)):
        (given.folder / f"{name}.json").write_text(json.dumps(schema), "utf-8")


if __name__ == "__main__":
    main()
