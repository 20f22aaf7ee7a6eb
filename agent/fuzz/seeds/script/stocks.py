import json
found = json.loads(stocks())
names = [f"{one['name']}: {one['weight']:.1f} %" for one in found if one["weight"] > 10]
final_answer("\n".join(names))
