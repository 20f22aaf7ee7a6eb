pairs = {k: v for k, v in zip(["a", "b"], range(2))}
pairs["c"] = pairs.get("c", 0) + 1
seen = {x % 3 for x in range(10)}
head, second = [1, 2]
rest = [1, 2, 3]
print(pairs, len(seen), rest[::-1], "a,b".split(","), "%s %d" % ("x", 3))
while head < 5:
    head += 2
    if head == 3:
        continue
    break
