MATCH p = (l:Line)-[:HAS_PART*1..3]->(x) WITH l, collect(x.name) AS names UNWIND names AS name RETURN {line: l.name, part: toUpper(name), hops: size(names)}
