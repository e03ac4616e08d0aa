package io.farheap.kv.format;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.control.SpaceKey;
import io.farheap.kv.TestServers;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.RpcQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.testing.TestDevice;
import java.lang.foreign.ValueLayout;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/** A process that has a map's spaces open and makes single calls to the servers. It dies when it is closed. */
public final class CallingProcess implements AutoCloseable {

    private static final int REPLY_WORDS = 16;

    private final SpaceKey key;
    private final RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "calling");
    private final Map<String, RemoteSpace> spaces = new HashMap<>();

    public CallingProcess(String map) {
        key = SpaceKey.of(map, TestServers.TOKEN);
    }

    /** The map's part on a server. */
    public RemoteSpace space(String address) {
        return spaces.computeIfAbsent(address, at -> memory.openSpace(memory.attach(at), key));
    }

    /**
     * Makes a call.
     *
     * @param words of the arguments, without the space
     * @return the first words of the reply
     */
    public long[] call(String address, int operation, long... words) {
        RpcOptions options = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(MapCalls.RECORD_BYTES);
        AtomicBoolean ended = new AtomicBoolean();
        RemoteSpace space = space(address);
        try (RpcQueue queue = memory.openRpcQueue(options);
                RegisteredBuffer buffer = memory.register(2L * MapCalls.RECORD_BYTES)) {
            buffer.segment().set(ValueLayout.JAVA_LONG, 0, space.id());
            for (int i = 0; i < words.length; i++) {
                buffer.segment().set(ValueLayout.JAVA_LONG, 8L + 8L * i, words[i]);
            }
            assertEquals(
                    PostResult.OK,
                    queue.call(
                            space.server(),
                            operation,
                            buffer,
                            0,
                            8 + 8 * words.length,
                            MapCalls.RECORD_BYTES,
                            MapCalls.RECORD_BYTES,
                            0));
            queue.send();
            while (!ended.get()) {
                queue.poll((tag, how, length) -> {
                    assertEquals(Outcome.DONE, how);
                    ended.set(true);
                });
                queue.await(1_000_000);
            }
            long[] reply = new long[REPLY_WORDS];
            for (int i = 0; i < reply.length; i++) {
                reply[i] = buffer.segment().get(ValueLayout.JAVA_LONG, MapCalls.RECORD_BYTES + 8L * i);
            }
            return reply;
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
