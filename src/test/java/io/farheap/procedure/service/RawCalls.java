package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.control.grpc.ControlServer;
import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.RpcQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.server.contract.ServedCode;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/**
 * A client with a lease, regions and a queue of calls, which can send any bytes to a server of procedures. Messages are
 * in {@link #out}, and replies in {@link #in}, in the format of {@link CallFormat}.
 */
final class RawCalls implements AutoCloseable {

    static final long REGION = 64 << 10;
    private static final long DEADLINE_NANOS = TestDevice.patience(60_000_000_000L);

    private static final int SPINS = 1_000;

    /** A server of clients' procedures. */
    static final class Server implements AutoCloseable {

        final MemoryServer memory;
        private final ControlServer control;

        Server(int regions, int threads) {
            this(regions, threads, Idle.BACK_OFF, CallInterleaving.MEASURED);
        }

        Server(int regions, int threads, Idle idle, CallInterleaving turns) {
            memory = MemoryServer.open(new ServerOptions(
                            regions * REGION,
                            REGION,
                            TestDevice.patience(30_000_000_000L),
                            TestDevice.server(),
                            "test",
                            threads,
                            false,
                            idle)
                    .procedures(ServedCode.JAVA)
                    .turns(turns));
            try {
                control = ControlServer.start("127.0.0.1:0", Planes.of(memory));
            } catch (RuntimeException e) {
                memory.close();
                throw e;
            }
        }

        RawCalls client(int regions, RpcOptions options) {
            return new RawCalls(control.address(), regions, options);
        }

        RawCalls client(int regions) {
            return client(regions, RpcOptions.DEFAULT.with(2, 4).withRecordBytes(CallFormat.RECORD_BYTES));
        }

        @Override
        public void close() {
            control.close();
            memory.close();
        }
    }

    final RemoteMemory memory;
    final RemoteServer server;
    final List<RemoteRegion> regions;
    private final RegisteredBuffer buffer;
    private final RpcQueue queue;
    private final int room;

    final MemorySegment out;
    final MemorySegment in;
    int outcome;
    int bytes;
    private boolean ended;

    private RawCalls(String address, int regions, RpcOptions options) {
        memory = RemoteMemory.open(TestDevice.client(), "raw");
        server = memory.attach(address);
        this.regions = regions == 0 ? List.of() : memory.allocate(server, regions);
        room = options.recordBytes();
        buffer = memory.register(2L * room);
        out = buffer.segment().asSlice(0, room);
        in = buffer.segment().asSlice(room, room);
        queue = memory.openRpcQueue(options);
    }

    /** Sends the message, and waits for its reply; {@link #outcome} and {@link #bytes} have its result. */
    void send(int operation, int length, int replyRoom) {
        ended = false;
        if (queue.call(server, operation, buffer, 0, length, room, replyRoom, 0) != PostResult.OK) {
            throw new AssertionError("the server takes no calls");
        }
        queue.send();
        long deadline = System.nanoTime() + DEADLINE_NANOS;
        for (int polls = 0; !ended; polls++) {
            if (queue.poll((tag, how, replied) -> {
                                outcome = how;
                                bytes = replied;
                                ended = true;
                            })
                            == 0
                    && polls > SPINS) {
                queue.await(1_000_000);
            }
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("no reply");
            }
        }
    }

    void send(int operation, int length) {
        send(operation, length, room);
    }

    RpcQueue queue() {
        return queue;
    }

    /** Posts a call of the message and does not wait: the test sends and polls {@link #queue()} itself. */
    boolean post(int operation, int length, int replyRoom, long tag) {
        return queue.call(server, operation, buffer, 0, length, room, replyRoom, tag) == PostResult.OK;
    }

    /** @return the server's reply to the registration, or -1 if the call failed */
    int register(int id, int flags, byte[] file) {
        int said = CallFormat.MORE;
        for (int at = 0; at < file.length && said == CallFormat.MORE; at += CallFormat.CLASS_PIECE_BYTES) {
            byte[] piece = Arrays.copyOfRange(file, at, Math.min(file.length, at + CallFormat.CLASS_PIECE_BYTES));
            said = piece(id, flags, file.length, at, piece);
        }
        return said;
    }

    int piece(int id, int flags, int length, int at, byte[] piece) {
        out.set(JAVA_INT_UNALIGNED, 0, id);
        out.set(JAVA_INT_UNALIGNED, 4, flags);
        out.set(JAVA_INT_UNALIGNED, 8, length);
        out.set(JAVA_INT_UNALIGNED, 12, at);
        MemorySegment.copy(piece, 0, out, JAVA_BYTE, CallFormat.REGISTER_BYTES, piece.length);
        send(CallFormat.REGISTER, CallFormat.REGISTER_BYTES + piece.length);
        return outcome == Outcome.DONE && bytes >= 4 ? in.get(JAVA_INT_UNALIGNED, 0) : -1;
    }

    String text() {
        return new String(in.asSlice(4, bytes - 4).toArray(JAVA_BYTE), StandardCharsets.UTF_8);
    }

    void unregister(int id) {
        out.set(JAVA_INT_UNALIGNED, 0, id);
        send(CallFormat.UNREGISTER, 4);
    }

    /** @return 1 if the map has taken effect, 0 if pieces are missing, -1 if the call failed */
    int map(long version, int all, int at, int... piece) {
        out.set(JAVA_LONG_UNALIGNED, 0, version);
        out.set(JAVA_INT_UNALIGNED, 8, all);
        out.set(JAVA_INT_UNALIGNED, 12, at);
        out.set(JAVA_INT_UNALIGNED, 16, piece.length);
        for (int i = 0; i < piece.length; i++) {
            out.set(JAVA_INT_UNALIGNED, CallFormat.MAP_BYTES + i * 4L, piece[i]);
        }
        send(CallFormat.MAP, CallFormat.MAP_BYTES + piece.length * 4);
        return outcome == Outcome.DONE && bytes == 4 ? in.get(JAVA_INT_UNALIGNED, 0) : -1;
    }

    /** Maps all regions of this client, in their order. */
    void mapAll(long version) {
        map(
                version,
                regions.size(),
                0,
                regions.stream().mapToInt(RemoteRegion::regionId).toArray());
    }

    /** Puts a call's first 32 bytes. */
    void header(int id, int capacity, long from, long span, long first) {
        out.set(JAVA_INT_UNALIGNED, 0, id);
        out.set(JAVA_INT_UNALIGNED, 4, capacity);
        out.set(JAVA_LONG_UNALIGNED, 8, from);
        out.set(JAVA_LONG_UNALIGNED, 16, span);
        out.set(JAVA_LONG_UNALIGNED, 24, first);
    }

    int prepare(int id, long from, long span, long... arguments) {
        header(id, 8, from, span, arguments.length == 0 ? -1 : arguments[0]);
        for (int i = 0; i < arguments.length; i++) {
            out.set(JAVA_LONG_UNALIGNED, CallFormat.CALL_BYTES + i * 8L, arguments[i]);
        }
        return CallFormat.CALL_BYTES + arguments.length * 8;
    }

    /** @return a status, or -1 if the call failed */
    int call(int id, long... arguments) {
        send(CallFormat.CALL, prepare(id, 0, regions.size() * REGION, arguments));
        return status();
    }

    int status() {
        return outcome == Outcome.DONE && bytes >= CallFormat.REPLY_BYTES ? in.get(JAVA_INT_UNALIGNED, 0) : -1;
    }

    /** The reason of a refusal. */
    int reason() {
        return in.get(JAVA_INT_UNALIGNED, 4);
    }

    long value() {
        return in.get(JAVA_LONG_UNALIGNED, 8);
    }

    long result() {
        return in.get(JAVA_LONG_UNALIGNED, CallFormat.REPLY_BYTES);
    }

    /** The suspended call that the last reply contains. */
    byte[] context() {
        return in.asSlice(CallFormat.REPLY_BYTES, bytes - CallFormat.REPLY_BYTES)
                .toArray(JAVA_BYTE);
    }

    /** Resumes a suspended call, after {@link #header}. */
    int resume(byte[] context) {
        MemorySegment.copy(context, 0, out, JAVA_BYTE, CallFormat.CALL_BYTES, context.length);
        send(CallFormat.RESUME, CallFormat.CALL_BYTES + context.length);
        return status();
    }

    @Override
    public void close() {
        memory.close();
    }
}
