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
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.TestDevice;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicBoolean;

/** A process that has registered with a map's server, and sends nothing more. */
public final class SilentProcess implements AutoCloseable {

    private final RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "silent");

    public SilentProcess(String map, String address) {
        RemoteServer server = memory.attach(address);
        RemoteSpace space = memory.openSpace(server, SpaceKey.of(map, TestServers.TOKEN));
        RpcOptions options = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(MapCalls.RECORD_BYTES);
        AtomicBoolean ended = new AtomicBoolean();
        try (RpcQueue queue = memory.openRpcQueue(options);
                RegisteredBuffer buffer = memory.register(2L * MapCalls.RECORD_BYTES)) {
            buffer.segment().set(ValueLayout.JAVA_LONG, 0, space.id());
            buffer.segment().set(ValueLayout.JAVA_LONG, 8, 4711);
            assertEquals(
                    PostResult.OK,
                    queue.call(
                            server, MapCalls.REGISTER, buffer, 0, 16, MapCalls.RECORD_BYTES, MapCalls.RECORD_BYTES, 0));
            queue.send();
            while (!ended.get()) {
                queue.poll((tag, how, length) -> ended.set(how == Outcome.DONE));
                queue.await(1_000_000);
            }
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
