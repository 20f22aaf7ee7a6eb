"""Answers queries by an engine that shares no code with the project (`ocg` of the Python registry).

oracle.py FILE: a JSON document {"nodes": [[labels, properties]], "relationships": [[from, to, type,
properties]], "queries": [text]}. Prints a list: for each query {"rows": [...]} or {"error": text}.
"""

import json
import sys

from ocg import Graph


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        asked = json.load(file)
    graph = Graph()
    ids = graph.bulk_create_nodes([(labels, own) for labels, own in asked["nodes"]])
    graph.bulk_create_relationships(
        [(ids[start], ids[end], kind, own) for start, end, kind, own in asked["relationships"]]
    )
    answers = []
    for query in asked["queries"]:
        try:
            answers.append({"rows": graph.execute(query)})
        except Exception as error:  # whatever the engine raises is its answer
            answers.append({"error": str(error)})
    json.dump(answers, sys.stdout, ensure_ascii=False, default=repr)


main()
