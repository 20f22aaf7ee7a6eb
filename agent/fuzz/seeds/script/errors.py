try:
    broken(id="P-101")
except Exception as error:
    print("failed:", error)
else:
    print("never")
finally:
    final_answer(f"{1 / 3:>10.3f}|{'외륜':^8}|{-7 // 2}|{2 ** -1}")
