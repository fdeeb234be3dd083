#!/usr/bin/env python3
"""What `ganalyze --json` prints for several traces is as docs/ganalyze.schema.json says, and every key that the
schema names is there. By python3-jsonschema where it is installed, and always by the few rules of its own below.

Usage: json_schema.py BUILD DOCS
"""

import pathlib

from job import *  # noqa: F403

SCHEMA = json.loads((pathlib.Path(arguments[0]) / "ganalyze.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "number": (int, float), "integer": int}
seen = set()  # (place in the schema, key)


def resolved(schema):
    if "$ref" in schema:
        target = SCHEMA
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        return {**target, **{k: v for k, v in schema.items() if k not in ("$ref", "description")}}
    return schema


def is_type(value, name):
    if name == "null":
        return value is None
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def follow(value, schema, at):
    """Types, enumerations, least values, required keys: everything that the schema uses but patterns."""
    schema = resolved(schema)
    for part in schema.get("allOf", []):
        follow(value, part, at)
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    check(not names or any(is_type(value, n) for n in names), f"{at}: {value!r} is no {names}")
    check(value in schema.get("enum", [value]), f"{at}: {value!r} is none of {schema.get('enum')}")
    if "minimum" in schema and value is not None:
        check(value >= schema["minimum"], f"{at}: {value!r} is too small")
    if isinstance(value, dict):
        keys(value, *schema.get("required", []))
        for key, part in schema.get("properties", {}).items():
            if key in value:
                seen.add((id(schema.get("properties")), key))
                follow(value[key], part, f"{at}.{key}")
    for i, item in enumerate(value if isinstance(value, list) else []):
        follow(item, schema.get("items", {}), f"{at}[{i}]")


def is_elsewhere(schema):
    """Of programs in SPIR-V, which no driver takes that is always there: intermediate.py has them."""
    return isinstance(schema, dict) and str(schema.get("description", "")).endswith("Of SPIR-V only.")


def documented(schema):
    """All (properties, key) pairs of the schema."""
    if is_elsewhere(schema):
        return
    if isinstance(schema, dict):
        properties = schema.get("properties", {}) if isinstance(schema.get("properties"), dict) else {}
        for key, part in properties.items():
            if not is_elsewhere(part):
                yield id(properties), key
        for part in schema.values():
            yield from documented(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from documented(part)


def reports():
    """Programs that differ: many transfers, wrappers, all transfer functions, no kernel, names that are hostile."""
    for name in ("vadd", "nbody"):
        good(GTRACE, "run", "-o", f"{name}.db", "--", app(name))
    good(GTRACE, "run", "-o", "wrapper.db", "--", tests_dir / "wrapper_job")
    traced(tests_dir / "every_transfer", file="every.db")
    good(tests_dir / "large_trace", "large.db", 600)
    names = ["vadd", "nbody", "wrapper", "every", "large"]
    if shutil.which("clinfo"):
        traced("clinfo", file="clinfo.db")
        names.append("clinfo")
    found = {n: good(GANALYZE, "--json", "--link", "10GbE", f"{n}.db").json for n in names}
    found["tried"] = good(GANALYZE, "--json", "--verify", "vadd.db").json
    return found


def test_outputs_follow_the_schema():
    found = reports()
    for name, report in found.items():
        follow(report, SCHEMA, name)
    missing = {key for place, key in documented(SCHEMA) if (place, key) not in seen}
    check(not missing, f"documented, but in no report: {sorted(missing)}")
    try:
        import jsonschema
    except ImportError:
        print("python3-jsonschema is not installed: only the own rules were checked")
        return
    validator = jsonschema.Draft202012Validator(SCHEMA)
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for name, report in found.items():
        problems = [f"{name}: {'/'.join(map(str, e.absolute_path))}: {e.message}" for e in validator.iter_errors(report)]
        check(not problems, "\n".join(problems[:5]))


def test_the_rules_find_what_is_wrong():
    report = good(tests_dir / "large_trace", "large.db", 60) and good(GANALYZE, "--json", "large.db").json
    for spoil in (lambda r: r.pop("flows"), lambda r: r.update(wall_ns=-1), lambda r: r.update(eligible="yes"),
                  lambda r: r["flows"]["nodes"][0].update(kind="other")):
        copy = json.loads(json.dumps(report))
        spoil(copy)
        try:
            follow(copy, SCHEMA, "spoilt")
        except AssertionError:
            continue
        check(False, "a spoilt report passes")


if __name__ == "__main__":
    main(globals())
