def most(rows, key="weight"):
    best = None
    for row in rows:
        if best is None or row[key] > best[key]:
            best = row
    return best

rows = [{"weight": 3.5, "code": "a"}, {"weight": 12, "code": "b"}]
print(most(rows)["code"], sorted(rows, key=lambda r: -r["weight"])[0])
