package io.farheap.rpc;

import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The calls of the batch that a message ring is serving, in columns by place in the batch. The server thread alone uses
 * it.
 */
final class ServedCalls implements AutoCloseable {

    private final RpcHandlers handlers;
    private final HeldRegions held;
    /** Arguments are copied here while the batch is checked, since the client may write to the ring at any time. */
    private final Arena arena = Arena.ofShared();

    private final MemorySegment scratch;
    private final int stride;
    private final Arguments arguments;
    private final Reply reply;
    private final PendingCalls pending;

    private final RpcHandler[] handler;
    /** The handler found last, and the one that it named for this thread: most calls of a ring are of one operation. */
    private @Nullable RpcHandler found;

    private @Nullable RpcHandler own;
    private final int[] operation;
    private final int[] bytes;
    private final int[] capacity;
    private final byte[] status;

    /**
     * @param out the staged response ring, into which replies are written
     * @param pending the ring's calls that are answered later
     */
    ServedCalls(RpcHandlers handlers, HeldRegions held, RingShape shape, MemorySegment out, PendingCalls pending) {
        this.handlers = handlers;
        this.held = held;
        this.pending = pending;
        this.stride = BatchFormat.padded(shape.recordBytes());
        this.handler = new RpcHandler[shape.batch()];
        this.operation = new int[shape.batch()];
        this.bytes = new int[shape.batch()];
        this.capacity = new int[shape.batch()];
        this.status = new byte[shape.batch()];
        this.scratch = arena.allocate((long) stride * shape.batch(), Long.BYTES);
        this.arguments = new Arguments(scratch);
        this.reply = new Reply(pending, out);
    }

    /**
     * Copies the arguments of a call of a batch that is being checked.
     *
     * @return the hash of the batch so far
     */
    long take(int index, int number, long from, int length, int replyBytes, long hash) {
        operation[index] = number;
        bytes[index] = length;
        capacity[index] = replyBytes;
        return PayloadCopier.fromMemory(from, scratch.address() + (long) index * stride, length, hash);
    }

    /** @return the offset in the server's memory of a word that the call will need, or {@link RpcHandler#NOWHERE} */
    long touch(int index) {
        status[index] = BatchFormat.DONE;
        try {
            RpcHandler own = find(operation[index]);
            handler[index] = own;
            if (own == null) {
                status[index] = BatchFormat.NO_OPERATION;
                return RpcHandler.NOWHERE;
            }
            long place = own.touch(held, arguments(index));
            if (place >= RpcHandler.NOWHERE && place < held.memory().byteSize()) {
                return place;
            }
            failed(index, new IllegalStateException("a word at " + place + " of the server's memory"));
        } catch (RegionNotHeldException e) {
            status[index] = BatchFormat.NOT_HELD;
        } catch (Throwable e) {
            failed(index, e);
        } finally {
            arguments.end();
        }
        return RpcHandler.NOWHERE;
    }

    private @Nullable RpcHandler find(int number) {
        RpcHandler now = handlers.find(number);
        if (now == null) {
            // Entries that the client leaves out have no operation: the handler of those between them stays.
            return null;
        }
        if (now != found) {
            own = now.onThread();
            found = now;
        }
        return own;
    }

    private Arguments arguments(int index) {
        arguments.set((long) index * stride, bytes[index], capacity[index]);
        return arguments;
    }

    /**
     * Executes a call; {@link #status} then has its status.
     *
     * @param to offset in the ring to which the reply goes
     * @return the length of the reply
     */
    int execute(int index, long to) {
        if (status[index] != BatchFormat.DONE) {
            return 0;
        }
        reply.set(index, to, capacity[index]);
        try {
            int length = handler[index].execute(held, arguments(index), reply);
            if (length == RpcHandler.LATER && reply.deferred()) {
                status[index] = BatchFormat.LATER;
                pending.putOff();
                return 0;
            }
            reply.drop();
            if (length >= 0 && length <= capacity[index]) {
                return length;
            }
            failed(
                    index,
                    new IllegalStateException("a reply of " + length + " bytes; there is room for " + capacity[index]));
        } catch (RegionNotHeldException e) {
            reply.drop();
            status[index] = BatchFormat.NOT_HELD;
        } catch (Throwable e) {
            reply.drop();
            failed(index, e);
        } finally {
            // A handler that keeps the two views must not reach the next call's bytes.
            arguments.end();
            reply.end();
        }
        return 0;
    }

    /** Tells the handlers of these calls that all of them have been executed. */
    void executed(int from, int end) {
        RpcHandler last = null;
        for (int i = from; i < end; i++) {
            RpcHandler each = handler[i];
            if (each != null && each != last) {
                each.executed();
                last = each;
            }
        }
    }

    /** The padded length of a call's arguments in the request batch. */
    int argumentBytes(int index) {
        return BatchFormat.padded(bytes[index]);
    }

    byte status(int index) {
        return status[index];
    }

    private void failed(int index, Throwable cause) {
        status[index] = BatchFormat.FAILED;
        handlers.failed(operation[index], held.client(), cause);
    }

    /** May be called more than once. */
    @Override
    public void close() {
        pending.cancel();
        if (arena.scope().isAlive()) {
            arena.close();
        }
    }
}
