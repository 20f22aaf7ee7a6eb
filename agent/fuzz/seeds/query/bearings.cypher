MATCH (e:Equipment)-[:HAS_PART]->(b:Bearing) WHERE e.rpm > 1000 RETURN e.name, count(b) AS bearings ORDER BY bearings DESC LIMIT 5
