//! The asset graph: nodes and relationships in two tables, read as a source of queries and written
//! as differences.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, LazyLock};

use pdm_graph::assets::{AssetChange, Assets, EdgeName, NodeName, searchable};
use pdm_graph::{Direction, Fans, Hops, Node, Scan, Value, properties_json};
use pdm_shared::event::Event;
use pdm_shared::id::BearingKey;
use pdm_shared::risk::RiskLevel;
use serde_json::json;

use super::Database;
use crate::StoreError;
use crate::database::{Connection, Dialect, Numbers, Row, Spelt};
use crate::encoding::{json_of, word_of};

mod rows;

use rows::{node_at, node_of, properties, relationship_of};

/// Elements of one statement that writes.
const ROWS: usize = 1_000;
/// Most characters of a label: the index over it takes texts of this length in both databases.
const MAX_LABEL: usize = 120;

const NODES: &str = "SELECT id, kind, properties FROM graph_nodes";

static BY_IDS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| format!("{NODES} WHERE id {}", dialect.in_numbers("$1")))
});

/// Parameters: nodes, type or '', types between commas, limit. Columns: the relationship, and
/// `with_ends` the node at its other end.
fn edges(with_ends: bool, way: Direction, one: bool) -> Spelt {
    let (end, other) = match way {
        Direction::In => ("to_node", "from_node"),
        Direction::Out | Direction::Either => ("from_node", "to_node"),
    };
    Spelt::each(|dialect| {
        let position = match dialect {
            Dialect::Sqlite => "instr",
            Dialect::Postgres => "strpos",
        };
        let kinds = if one {
            "e.kind = $2 AND $3 = $3".to_owned()
        } else {
            format!("$2 = $2 AND ($3 = '' OR {position}($3, ',' || e.kind || ',') > 0)")
        };
        let nodes = dialect.in_numbers("$1");
        let (columns, far) = match dialect {
            _ if !with_ends => ("", String::new()),
            Dialect::Sqlite => (FAR, format!("JOIN graph_nodes n ON n.id = e.{other}")),
            // a look-up a row: PostgreSQL would read every node for a join that it takes for a
            // large one
            Dialect::Postgres => (
                FAR,
                format!(
                    "CROSS JOIN LATERAL (SELECT id, kind, properties FROM graph_nodes
                                         WHERE id = e.{other} OFFSET 0) n"
                ),
            ),
        };
        format!(
            "SELECT e.id, e.kind, e.from_node, e.to_node, e.properties{columns}
             FROM graph_edges e {far} WHERE e.{end} {nodes} AND {kinds} LIMIT $4"
        )
    })
}

/// The columns of the node at the other end.
const FAR: &str = ", n.id, n.kind, n.properties";

/// The statements of [`edges`]: with ends, incoming, of one type.
static EDGES: [LazyLock<Spelt>; 8] = [
    LazyLock::new(|| edges(false, Direction::Out, false)),
    LazyLock::new(|| edges(false, Direction::Out, true)),
    LazyLock::new(|| edges(false, Direction::In, false)),
    LazyLock::new(|| edges(false, Direction::In, true)),
    LazyLock::new(|| edges(true, Direction::Out, false)),
    LazyLock::new(|| edges(true, Direction::Out, true)),
    LazyLock::new(|| edges(true, Direction::In, false)),
    LazyLock::new(|| edges(true, Direction::In, true)),
];

/// The rows of a list of lists, as text columns `c0`, `c1`, ….
fn listed(dialect: Dialect, columns: usize) -> String {
    let cells = (0..columns).map(|column| match dialect {
        Dialect::Sqlite => format!("json_extract(value, '$[{column}]') AS c{column}"),
        Dialect::Postgres => format!("value->>{column} AS c{column}"),
    });
    let cells = cells.collect::<Vec<_>>().join(", ");
    match dialect {
        Dialect::Sqlite => format!("(SELECT {cells} FROM json_each($1)) AS l"),
        Dialect::Postgres => {
            format!("(SELECT {cells} FROM json_array_elements($1::json) AS r(value)) AS l")
        }
    }
}

static PUT_NODES: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let rows = listed(dialect, 5);
        format!(
            "INSERT INTO graph_nodes (kind, name, label, search, properties)
             SELECT c0, c1, c2, c3, c4 FROM {rows} WHERE true
             ON CONFLICT (kind, name) DO UPDATE
             SET label = excluded.label, search = excluded.search, properties = excluded.properties"
        )
    })
});

static PUT_EDGES: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let rows = listed(dialect, 7);
        format!(
            "INSERT INTO graph_edges (kind, from_node, to_node, since, properties)
             SELECT c0, f.id, t.id, c5, c6 FROM {rows}
             JOIN graph_nodes f ON f.kind = c1 AND f.name = c2
             JOIN graph_nodes t ON t.kind = c3 AND t.name = c4
             WHERE true
             ON CONFLICT (from_node, kind, to_node, since) DO UPDATE
             SET properties = excluded.properties"
        )
    })
});

static SEARCH: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let position = match dialect {
            Dialect::Sqlite => "instr",
            Dialect::Postgres => "strpos",
        };
        format!(
            "{NODES} WHERE kind = $1 AND {position}(search, $2) > 0
             ORDER BY label, name LIMIT $3"
        )
    })
});

/// Parameters: site, machine, bearing, first moments of days. The last window of each day, with the
/// number of the day's windows.
static DAYS: LazyLock<Spelt> = LazyLock::new(|| {
    Spelt::each(|dialect| {
        let days = match dialect {
            Dialect::Sqlite => "(SELECT value AS begin FROM json_each($4)) AS d",
            Dialect::Postgres => "(SELECT unnest($4::bigint[]) AS begin) AS d",
        };
        let within = "e.site = $1 AND e.equipment_id = $2 AND e.bearing_id = $3
                      AND e.measured_at_ms >= d.begin AND e.measured_at_ms < d.begin + 86400000";
        let last = format!(
            "(SELECT e.arrival FROM events e WHERE {within}
              ORDER BY e.measured_at_ms DESC, e.arrival DESC LIMIT 1)"
        );
        // PostgreSQL keeps `events` in partitions by arrival: the payload is read in the same
        // look-up
        let payload = match dialect {
            Dialect::Sqlite => format!(
                "(SELECT json_remove(p.payload, '$.spectra') FROM events p WHERE p.arrival = \
                 {last})"
            ),
            Dialect::Postgres => last.replace("e.arrival FROM", "e.payload FROM"),
        };
        format!(
            "SELECT d.begin, (SELECT count(*) FROM events e WHERE {within}), {payload}
             FROM {days} ORDER BY d.begin"
        )
    })
});

/// A function that decides the change of the present asset graph; `None` changes nothing.
pub type ReviseAssets<'r> = &'r mut (dyn FnMut(&Assets) -> Option<AssetChange> + Send);

/// The asset graph; used by its queries, its tools, its pages and its import.
#[derive(Debug, Clone)]
pub struct GraphStore {
    pub(crate) database: Database,
}

impl GraphStore {
    /// At most `limit` nodes that may fit `scan`, after an identity, in the order of their
    /// identities.
    pub async fn graph_scan(
        &self,
        scan: &Scan,
        after: Option<i64>,
        limit: usize,
    ) -> Result<Vec<Arc<Node>>, StoreError> {
        let mut reader = self.database.read().await?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let after = after.unwrap_or(i64::MIN);
        let text =
            |key: &str| {
                let found = scan.equal.iter().find(|(own, _)| &**own == key);
                found.and_then(|(_, value)| {
                    if let Value::Text(text) = value { Some(text.as_ref()) } else { None }
                })
            };
        let rows = match (scan.labels.as_slice(), text("id"), text("name")) {
            // a node has one label
            ([_, _, ..], ..) => return Ok(Vec::new()),
            ([label], Some(id), _) => {
                let query = reader.query(
                    "SELECT id, kind, properties FROM graph_nodes
                     WHERE kind = $1 AND name = $2 AND id > $3 LIMIT $4",
                );
                query
                    .bind(label.to_string())
                    .bind(id.to_owned())
                    .bind(after)
                    .bind(limit)
                    .fetch_all()
                    .await?
            }
            ([label], None, Some(name)) => {
                let query = reader.query(
                    "SELECT id, kind, properties FROM graph_nodes
                     WHERE kind = $1 AND label = $2 AND id > $3 ORDER BY id LIMIT $4",
                );
                query
                    .bind(label.to_string())
                    .bind(cut(name))
                    .bind(after)
                    .bind(limit)
                    .fetch_all()
                    .await?
            }
            ([label], None, None) => {
                let query = reader.query(
                    "SELECT id, kind, properties FROM graph_nodes
                     WHERE kind = $1 AND id > $2 ORDER BY id LIMIT $3",
                );
                query.bind(label.to_string()).bind(after).bind(limit).fetch_all().await?
            }
            ([], ..) => {
                let query = reader.query(
                    "SELECT id, kind, properties FROM graph_nodes WHERE id > $1 ORDER BY id LIMIT \
                     $2",
                );
                query.bind(after).bind(limit).fetch_all().await?
            }
        };
        rows.iter().map(node_of).collect()
    }

    /// The nodes with these identities.
    pub async fn graph_nodes(&self, ids: &[i64]) -> Result<Vec<Arc<Node>>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&BY_IDS).bind(ids.iter().copied().collect::<Numbers>());
        query.fetch_all().await?.iter().map(node_of).collect()
    }

    /// At most `limit` relationships of these nodes in each direction that is asked for, of these
    /// types (of every type if there are none).
    pub async fn graph_relationships(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Fans, StoreError> {
        self.hops(of, direction, kinds, limit, false).await.map(|hops| hops.fans)
    }

    /// The relationships as of [`GraphStore::graph_relationships`], with the nodes at their other
    /// ends.
    pub async fn graph_hops(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
    ) -> Result<Hops, StoreError> {
        self.hops(of, direction, kinds, limit, true).await
    }

    /// The whole graph, as it stands at one moment.
    pub async fn assets(&self) -> Result<Assets, StoreError> {
        let mut snapshot = self.database.reader().begin_snapshot().await?;
        assets(&mut snapshot.connection()).await
    }

    /// Reads the whole graph, asks `revise` what changes, and writes that whole or not at all.
    /// Nothing else is written to the graph meanwhile: of two changes at once the second waits and
    /// sees what the first has written. `revise` must not block.
    pub async fn change_assets(&self, revise: ReviseAssets<'_>) -> Result<(), StoreError> {
        // the write lock of SQLite is taken at the begin, so nothing can change after the read
        let mut transaction = self.database.write().await?;
        let connection = &mut transaction.connection();
        if let Database::Postgres(_) = &self.database {
            let lock = "LOCK TABLE graph_nodes, graph_edges IN SHARE ROW EXCLUSIVE MODE";
            connection.query(lock).execute().await?;
        }
        let Some(change) = revise(&assets(connection).await?) else { return Ok(()) };
        put(connection, &change).await?;
        transaction.commit().await
    }

    /// Nodes of a type whose id, name, model or title holds `text`, in the order of their names.
    pub async fn search_assets(
        &self,
        kind: &str,
        text: &str,
        limit: u32,
    ) -> Result<Vec<Arc<Node>>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&SEARCH).bind(kind.to_owned()).bind(text.to_lowercase());
        query.bind(i64::from(limit)).fetch_all().await?.iter().map(node_of).collect()
    }

    /// Every tag with the number of what it is on, most first.
    pub async fn asset_tags(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT t.name, (SELECT count(*) FROM graph_edges e
                             WHERE e.to_node = t.id AND e.kind = 'TAGGED')
             FROM graph_nodes t WHERE t.kind = 'Tag' ORDER BY 2 DESC, 1",
        );
        let rows = query.fetch_all().await?;
        rows.iter().map(|row| Ok((row.get(0)?, row.get::<i64>(1)?.unsigned_abs()))).collect()
    }

    /// Returns, for each day that begins at one of `days` (milliseconds) and has a window, the day,
    /// the number of its windows, and the last of them without its spectra.
    pub async fn last_of_days(
        &self,
        key: &BearingKey,
        days: &[i64],
    ) -> Result<Vec<(i64, u64, Event)>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(&DAYS).bind_key(key);
        let rows = query.bind(days.iter().copied().collect::<Numbers>()).fetch_all().await?;
        let mut found = Vec::new();
        for row in &rows {
            if let Some(payload) = row.get::<Option<&str>>(2)? {
                let event: Event = json_of("an event", payload)?;
                found.push((row.get(0)?, row.get::<i64>(1)?.unsigned_abs(), event));
            }
        }
        Ok(found)
    }

    /// The risk of the last judgement up to a moment, of windows that came in their turn; `None`
    /// before the first one.
    pub async fn risk_at(
        &self,
        key: &BearingKey,
        until_ms: i64,
    ) -> Result<Option<RiskLevel>, StoreError> {
        let mut reader = self.database.read().await?;
        let query = reader.query(
            "SELECT risk_level FROM pdm_agent_memory
             WHERE site = $1 AND equipment_id = $2 AND bearing_id = $3 AND measured_at_ms <= $4
               AND NOT late
             ORDER BY measured_at_ms DESC, id DESC LIMIT 1",
        );
        let row = query.bind_key(key).bind(until_ms).fetch_optional().await?;
        row.map(|row| word_of("a risk", row.get(0)?)).transpose()
    }
}

impl GraphStore {
    async fn hops(
        &self,
        of: &[i64],
        direction: Direction,
        kinds: &[Arc<str>],
        limit: usize,
        with_ends: bool,
    ) -> Result<Hops, StoreError> {
        let wanted = |way| async move {
            if direction == Direction::Either || direction == way {
                self.edges_of(of, way, kinds, limit, with_ends).await
            } else {
                Ok(Vec::new())
            }
        };
        // both directions at once
        let (out, incoming) = tokio::try_join!(wanted(Direction::Out), wanted(Direction::In))?;
        let mut fans = Fans::new();
        let mut nodes: HashMap<i64, Arc<Node>> = HashMap::new();
        for (way, rows) in [(Direction::Out, out), (Direction::In, incoming)] {
            for row in &rows {
                let relationship = relationship_of(row)?;
                let (start, end) = (relationship.start, relationship.end);
                let (own, far) = if way == Direction::In { (end, start) } else { (start, end) };
                if with_ends && let Entry::Vacant(vacant) = nodes.entry(far) {
                    vacant.insert(node_at(row, 5)?);
                }
                // a loop is listed once
                if direction != Direction::Either || way == Direction::Out || start != end {
                    fans.entry(own).or_default().push(relationship);
                }
            }
        }
        Ok(Hops { fans, nodes: nodes.into_values().collect() })
    }

    /// The relationships that leave, or come to, these nodes, with their other ends if they are
    /// asked for.
    async fn edges_of(
        &self,
        of: &[i64],
        way: Direction,
        kinds: &[Arc<str>],
        limit: usize,
        with_ends: bool,
    ) -> Result<Vec<Row>, StoreError> {
        let (one, some) = match kinds {
            [one] => (one.to_string(), String::new()),
            [] => (String::new(), String::new()),
            several => (String::new(), format!(",{},", several.join(","))),
        };
        let (ends, incoming) = (usize::from(with_ends), usize::from(way == Direction::In));
        let statement = &EDGES[ends * 4 + incoming * 2 + usize::from(kinds.len() == 1)];
        let mut reader = self.database.read().await?;
        let query = reader.query(statement).bind(of.iter().copied().collect::<Numbers>());
        let query = query.bind(one).bind(some).bind(i64::try_from(limit).unwrap_or(i64::MAX));
        query.fetch_all().await
    }
}

async fn put(connection: &mut Connection<'_>, change: &AssetChange) -> Result<(), StoreError> {
    remove(connection, change).await?;
    let nodes = change.nodes.iter().map(|(name, _, own)| {
        let label = match own.get("name").or_else(|| own.get("title")) {
            Some(Value::Text(label)) => cut(label),
            _ => cut(&name.id),
        };
        json!([name.kind, name.id, label, searchable(name, own), properties_json(own).to_string()])
    });
    for rows in nodes.collect::<Vec<_>>().chunks(ROWS) {
        connection.query(&PUT_NODES).bind(sound(rows)).execute().await?;
    }
    let edges = change.edges.iter().map(|(name, _, own)| {
        let (from, to) = (&name.from, &name.to);
        let own = properties_json(own).to_string();
        json!([name.kind, from.kind, from.id, to.kind, to.id, name.since, own])
    });
    for rows in edges.collect::<Vec<_>>().chunks(ROWS) {
        let written = connection.query(&PUT_EDGES).bind(sound(rows)).execute().await?;
        if usize::try_from(written).unwrap_or(usize::MAX) < rows.len() {
            let reason = "an end of a relationship does not exist".to_owned();
            return Err(StoreError::Content { what: "the asset graph", reason });
        }
    }
    Ok(())
}

async fn remove(connection: &mut Connection<'_>, change: &AssetChange) -> Result<(), StoreError> {
    for EdgeName { kind, from, to, since } in &change.removed_edges {
        let query = connection.query(
            "DELETE FROM graph_edges WHERE kind = $1 AND since = $2
               AND from_node = (SELECT id FROM graph_nodes WHERE kind = $3 AND name = $4)
               AND to_node = (SELECT id FROM graph_nodes WHERE kind = $5 AND name = $6)",
        );
        let query = query.bind(kind.to_string()).bind(since.to_string());
        let query = query.bind(from.kind.to_string()).bind(from.id.to_string());
        query.bind(to.kind.to_string()).bind(to.id.to_string()).execute().await?;
    }
    for name in &change.removed_nodes {
        let query = connection.query("DELETE FROM graph_nodes WHERE kind = $1 AND name = $2");
        query.bind(name.kind.to_string()).bind(name.id.to_string()).execute().await?;
    }
    Ok(())
}

async fn assets(connection: &mut Connection<'_>) -> Result<Assets, StoreError> {
    let mut assets = Assets::default();
    let mut names = HashMap::new();
    let nodes = connection.query("SELECT id, kind, properties, name FROM graph_nodes");
    for row in nodes.fetch_all().await? {
        let name = NodeName::new(row.get::<&str>(1)?, row.get::<&str>(3)?);
        names.insert(row.get::<i64>(0)?, name.clone());
        assets.nodes.insert(name, properties(row.get(2)?)?);
    }
    let edges =
        connection.query("SELECT id, kind, from_node, to_node, properties FROM graph_edges");
    for row in edges.fetch_all().await? {
        let own = properties(row.get(4)?)?;
        let ends = (names.get(&row.get::<i64>(2)?), names.get(&row.get::<i64>(3)?));
        if let (Some(from), Some(to)) = ends {
            let name = EdgeName::new(row.get(1)?, from.clone(), to.clone(), &own);
            assets.edges.insert(name, own);
        }
    }
    Ok(assets)
}

/// A list as JSON text. PostgreSQL takes no U+0000 in a text.
fn sound(rows: &[serde_json::Value]) -> String {
    serde_json::Value::from(rows).to_string().replace("\\u0000", "\\ufffd")
}

fn cut(label: &str) -> String {
    label.chars().take(MAX_LABEL).collect()
}

#[cfg(test)]
mod tests;
