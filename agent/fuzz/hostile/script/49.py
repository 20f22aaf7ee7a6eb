for i in range(1000):
    try:
        list_tags()
    except Exception:
        pass