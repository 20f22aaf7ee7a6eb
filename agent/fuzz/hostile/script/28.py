while True:
    try:
        1/0
    except Exception:
        pass