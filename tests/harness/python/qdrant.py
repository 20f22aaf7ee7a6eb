"""A stand-in for a Qdrant server: the local mode of Qdrant's own Python client, which does in memory
what the server does, behind the server's gRPC services and by the client's own conversions. Prints
the port it listens on. Durability and speed are the server's alone and are not shown by it.

Lines on its standard input make it behave badly: `hang`, `go on`, `forget` (as after a start on an
empty disk), `keys FULL READ_ONLY`, `lose index FIELD`, `strict` (a filter on a field without an index
is refused, as by the server's strict mode)."""

import sys
import threading
from concurrent import futures

import grpc
from qdrant_client import QdrantClient
from qdrant_client import grpc as proto
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc
from qdrant_client.grpc.collections_service_pb2_grpc import (
    CollectionsServicer,
    add_CollectionsServicer_to_server,
)
from qdrant_client.grpc.points_service_pb2_grpc import PointsServicer, add_PointsServicer_to_server

LOCAL = QdrantClient(":memory:")
# fields with a payload index, by collection
INDEXED = {}
GOES_ON = threading.Event()
STATE = {"keys": None, "strict": False}
WRITES = ("Create", "Delete", "Upsert", "CreateFieldIndex")


def there(request, context):
    """The name of a collection that exists; else the call ends as the server ends it."""
    name = request.collection_name
    if not LOCAL.collection_exists(name):
        context.abort(grpc.StatusCode.NOT_FOUND, f"Collection `{name}` doesn't exist!")
    return name


def filter_of(request):
    return GrpcToRest.convert_filter(request.filter) if request.HasField("filter") else None


def done():
    result = proto.UpdateResult(operation_id=0, status=proto.UpdateStatus.Completed)
    return proto.PointsOperationResponse(result=result)


class Moods(grpc.ServerInterceptor):
    """Hangs and denies, before any service is asked."""

    def intercept_service(self, continuation, details):
        handler = continuation(details)
        key = dict(details.invocation_metadata).get("api-key")
        writes = details.method.rsplit("/", 1)[-1] in WRITES

        def behave(request, context):
            GOES_ON.wait()
            keys = STATE["keys"]
            if keys and key not in keys:
                context.abort(grpc.StatusCode.UNAUTHENTICATED, "Invalid API key or JWT")
            if keys and writes and key != keys[0]:
                refused = "Forbidden: Global manage access is required"
                context.abort(grpc.StatusCode.PERMISSION_DENIED, refused)
            return handler.unary_unary(request, context)

        return grpc.unary_unary_rpc_method_handler(
            behave, handler.request_deserializer, handler.response_serializer
        )


def obey():
    for line in sys.stdin:
        match line.split():
            case ["hang"]:
                GOES_ON.clear()
            case ["go", "on"]:
                GOES_ON.set()
            case ["forget"]:
                for collection in LOCAL.get_collections().collections:
                    LOCAL.delete_collection(collection.name)
                INDEXED.clear()
            case ["keys", full, read_only]:
                STATE["keys"] = (full, read_only)
            case ["lose", "index", field]:
                for fields in INDEXED.values():
                    fields.discard(field)
            case ["strict"]:
                STATE["strict"] = True
        print("done", flush=True)


class Collections(CollectionsServicer):
    def List(self, request, context):
        names = [collection.name for collection in LOCAL.get_collections().collections]
        described = [proto.CollectionDescription(name=name) for name in names]
        return proto.ListCollectionsResponse(collections=described)

    def CollectionExists(self, request, context):
        exists = LOCAL.collection_exists(request.collection_name)
        return proto.CollectionExistsResponse(result=proto.CollectionExists(exists=exists))

    def Create(self, request, context):
        name = request.collection_name
        if LOCAL.collection_exists(name):
            context.abort(grpc.StatusCode.ALREADY_EXISTS, f"Collection `{name}` already exists!")
        LOCAL.create_collection(
            name,
            vectors_config=GrpcToRest.convert_vectors_config(request.vectors_config),
            sparse_vectors_config=GrpcToRest.convert_sparse_vector_config(
                request.sparse_vectors_config
            ),
        )
        return proto.CollectionOperationResponse(result=True)

    def Get(self, request, context):
        name = there(request, context)
        info = RestToGrpc.convert_collection_info(LOCAL.get_collection(name))
        for field in INDEXED.get(name, ()):
            kind = proto.PayloadSchemaInfo(data_type=proto.PayloadSchemaType.Keyword)
            info.payload_schema[field].CopyFrom(kind)
        return proto.GetCollectionInfoResponse(result=info)

    def Delete(self, request, context):
        INDEXED.pop(request.collection_name, None)
        gone = LOCAL.delete_collection(request.collection_name)
        return proto.CollectionOperationResponse(result=bool(gone))


class Points(PointsServicer):
    def CreateFieldIndex(self, request, context):
        INDEXED.setdefault(there(request, context), set()).add(request.field_name)
        return done()

    def Upsert(self, request, context):
        points = [GrpcToRest.convert_point_struct(point) for point in request.points]
        LOCAL.upsert(there(request, context), points)
        return done()

    def Delete(self, request, context):
        LOCAL.delete(there(request, context), GrpcToRest.convert_points_selector(request.points))
        return done()

    def Query(self, request, context):
        asked = GrpcToRest.convert_query_points(request)
        if STATE["strict"]:
            indexed = INDEXED.get(request.collection_name, set())
            for condition in (asked.filter.must or []) if asked.filter else []:
                if condition.key not in indexed:
                    refused = f"Index required but not found for {condition.key}"
                    context.abort(grpc.StatusCode.INVALID_ARGUMENT, refused)
        found = LOCAL.query_points(
            there(request, context),
            query=asked.query,
            prefetch=asked.prefetch,
            using=asked.using,
            query_filter=asked.filter,
            limit=asked.limit,
            with_payload=asked.with_payload,
        )
        points = [RestToGrpc.convert_scored_point(point) for point in found.points]
        return proto.QueryResponse(result=points)

    def Scroll(self, request, context):
        after = None
        if request.HasField("offset"):
            after = GrpcToRest.convert_point_id(request.offset)
        page, following = LOCAL.scroll(
            there(request, context),
            scroll_filter=filter_of(request),
            limit=request.limit,
            offset=after,
        )
        answer = proto.ScrollResponse(result=[RestToGrpc.convert_record(point) for point in page])
        if following is not None:
            answer.next_page_offset.CopyFrom(RestToGrpc.convert_extended_point_id(following))
        return answer

    def Count(self, request, context):
        name = there(request, context)
        count = LOCAL.count(name, count_filter=filter_of(request), exact=request.exact).count
        return proto.CountResponse(result=proto.CountResult(count=count))


def main():
    # one worker: the local mode is for one thread
    server = grpc.server(futures.ThreadPoolExecutor(1), interceptors=[Moods()])
    add_CollectionsServicer_to_server(Collections(), server)
    add_PointsServicer_to_server(Points(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    GOES_ON.set()
    threading.Thread(target=obey, daemon=True).start()
    server.wait_for_termination()


main()
