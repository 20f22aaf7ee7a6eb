-- The asset graph. A node has one type (kind) and an id unique among its kind; properties are JSON.
-- search: id and texts in lower case. since tells apart the times of INSTALLED_IN, '' elsewhere.
CREATE TABLE graph_nodes (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    label       TEXT    NOT NULL,
    search      TEXT    NOT NULL,
    properties  TEXT    NOT NULL,
    UNIQUE (kind, name)
) STRICT;
CREATE INDEX graph_nodes_of_kind ON graph_nodes (kind, id);
CREATE INDEX graph_nodes_by_label ON graph_nodes (kind, label, name, search);
CREATE TABLE graph_edges (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT    NOT NULL,
    from_node   INTEGER NOT NULL REFERENCES graph_nodes (id),
    to_node     INTEGER NOT NULL REFERENCES graph_nodes (id),
    since       TEXT    NOT NULL DEFAULT '',
    properties  TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX graph_edges_out ON graph_edges (from_node, kind, to_node, since);
CREATE INDEX graph_edges_in ON graph_edges (to_node, kind);
