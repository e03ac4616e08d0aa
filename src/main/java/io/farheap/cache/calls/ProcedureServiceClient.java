package io.farheap.cache.calls;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.queue.RpcLane;
import io.farheap.remote.server.LeasedServer;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.RingShape;
import io.farheap.thread.Uninterruptibles;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Sends a cache's procedures and region table to one server, over message rings of its own: one call at a time, whose
 * answer it awaits. One thread at a time.
 */
final class ProcedureServiceClient implements AutoCloseable {

    /** The result of a registration. */
    record Registration(int outcome, String why) {}

    private static final RingShape SHAPE = new RingShape(1, 1, CallFormat.RECORD_BYTES, true);
    /** Longer than a translation takes on a busy machine; the loss of a server is noticed earlier. */
    private static final long PATIENCE_NANOS = TimeLimit.of(20_000_000_000L);

    private static final int SPINS = 10_000;
    private static final long PARK_NANOS = 50_000;

    private final RemoteServer server;
    private final Consumer<CompletableFuture<Void>> closesLater;
    private final Arena arena = Arena.ofShared();
    private final CompletionChannel channel;
    private final ServerRing ring;
    private final RpcLane lane;
    private final MemorySegment out;
    private final MemorySegment in;
    private final ReplyHandler handler = this::ended;
    private int outcome;
    private int replied;
    private boolean done;

    /**
     * @param closesLater receives the futures of resources that are closed later
     * @throws ControlException if the server does not answer
     */
    ProcedureServiceClient(Context context, RemoteServer server, Consumer<CompletableFuture<Void>> closesLater) {
        this.closesLater = closesLater;
        this.server = server;
        try {
            out = arena.allocate(CallFormat.RECORD_BYTES, Long.BYTES);
            in = arena.allocate(CallFormat.RECORD_BYTES, Long.BYTES);
            channel = context.createCompletionChannel();
        } catch (Throwable e) {
            arena.close();
            throw e;
        }
        try {
            ring = LeasedServer.of(server).connectRing(context, channel, SHAPE, 1, 0);
        } catch (Throwable e) {
            Closeables.after(e, channel, arena);
            throw e;
        }
        lane = new RpcLane(server, ring.connection());
    }

    /** @throws ControlException if the server does not answer */
    Registration register(int id, int flags, byte[] file) {
        Registration last = new Registration(CallFormat.MORE, "");
        for (int at = 0; at < file.length && last.outcome == CallFormat.MORE; at += CallFormat.CLASS_PIECE_BYTES) {
            int bytes = Math.min(CallFormat.CLASS_PIECE_BYTES, file.length - at);
            out.set(JAVA_INT_UNALIGNED, 0, id);
            out.set(JAVA_INT_UNALIGNED, 4, flags);
            out.set(JAVA_INT_UNALIGNED, 8, file.length);
            out.set(JAVA_INT_UNALIGNED, 12, at);
            MemorySegment.copy(file, at, out, JAVA_BYTE, CallFormat.REGISTER_BYTES, bytes);
            int length = call(CallFormat.REGISTER, CallFormat.REGISTER_BYTES + bytes);
            if (outcome == Outcome.NO_OPERATION) {
                return new Registration(CallFormat.NOT_SERVED, "its release has no procedures");
            }
            require("register a procedure", length >= Integer.BYTES);
            byte[] text = in.asSlice(Integer.BYTES, length - Integer.BYTES).toArray(JAVA_BYTE);
            last = new Registration(in.get(JAVA_INT_UNALIGNED, 0), new String(text, StandardCharsets.UTF_8));
        }
        return last;
    }

    /** As {@link #register}. */
    void unregister(int id) {
        out.set(JAVA_INT_UNALIGNED, 0, id);
        call(CallFormat.UNREGISTER, Integer.BYTES);
    }

    /**
     * Sends the region table; when this returns, no call uses an earlier table.
     *
     * @param regions for each virtual region the server's region id, or -1 if the server does not have it
     * @throws ControlException if the server does not answer
     */
    void map(long version, int[] regions) {
        int at = 0;
        do {
            int count = Math.min(CallFormat.MAP_PIECE, regions.length - at);
            out.set(JAVA_LONG_UNALIGNED, 0, version);
            out.set(JAVA_INT_UNALIGNED, 8, regions.length);
            out.set(JAVA_INT_UNALIGNED, 12, at);
            out.set(JAVA_INT_UNALIGNED, 16, count);
            for (int i = 0; i < count; i++) {
                out.set(JAVA_INT_UNALIGNED, CallFormat.MAP_BYTES + (long) i * Integer.BYTES, regions[at + i]);
            }
            int length = call(CallFormat.MAP, CallFormat.MAP_BYTES + count * Integer.BYTES);
            require("take a region table", length == Integer.BYTES);
            at += count;
        } while (at < regions.length);
    }

    private void require(String what, boolean whole) {
        if (outcome != Outcome.DONE || !whole) {
            throw new ControlException(
                    ControlException.Code.UNAVAILABLE,
                    "memory server " + server + " was to " + what + ": " + Outcome.describe(outcome));
        }
    }

    /**
     * Makes a call and awaits its end.
     *
     * @return length of the reply in bytes
     */
    private int call(int operation, int bytes) {
        server.requireHeld();
        done = false;
        outcome = Outcome.UNKNOWN;
        replied = 0;
        if (!lane.hasRoom()) {
            return 0;
        }
        lane.call(operation, this, out.address(), bytes, in.address(), CallFormat.RECORD_BYTES, 0);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        for (int spins = 0; !done; spins++) {
            lane.poll(handler);
            if (spins > SPINS) {
                Uninterruptibles.parkNanos(this, PARK_NANOS);
            } else {
                Thread.onSpinWait();
            }
            if (!done && (server.lost() != null || System.nanoTime() - deadline > 0)) {
                lane.detach();
            }
        }
        return replied;
    }

    private void ended(long tag, int how, int replyBytes) {
        done = true;
        outcome = how;
        replied = replyBytes;
    }

    boolean failed() {
        return ring.connection().failed();
    }

    @Override
    public void close() {
        lane.detach();
        ring.close();
        closesLater.accept(ring.closed().handle((nothing, failure) -> {
            Closeables.all(channel, arena);
            return null;
        }));
    }
}
