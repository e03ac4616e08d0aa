package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SlotWord;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.RpcQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Calls of any bytes to a map's service: they do no harm, and the map continues. */
class MalformedMapCallTest {

    private static final int CALLS = Effort.either(5_000, 20_000);
    private static final int OPERATIONS = MapCalls.LAST_CALL - MapCalls.REGISTER + 1;
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    private int outcome;
    private int ended;

    private void call(RpcQueue queue, RemoteServer server, RegisteredBuffer buffer, int operation, int bytes) {
        int before = ended;
        assertEquals(
                PostResult.OK,
                queue.call(server, operation, buffer, 0, bytes, MapCalls.RECORD_BYTES, MapCalls.RECORD_BYTES, 0));
        queue.send();
        while (ended == before) {
            if (queue.poll((tag, how, length) -> {
                        outcome = how;
                        ended++;
                    })
                    == 0) {
                queue.await(1_000_000);
            }
        }
        assertTrue(outcome == Outcome.DONE || outcome == Outcome.FAILED, () -> Outcome.describe(outcome));
    }

    /** @return a random number, which is often nearly a valid one */
    private static long word(SplittableRandom random, long spaceId) {
        return switch (random.nextInt(6)) {
            case 0 -> random.nextLong();
            case 1 -> spaceId;
            case 2 -> random.nextLong(-3, 20);
            case 3 -> SlotWord.live(random.nextLong(1 << 16), random.nextInt(4), 0, random.nextInt(256));
            case 4 -> 0;
            default -> random.nextLong(2000);
        };
    }

    @Test
    void aStrangerIsRefusedAndAMembersNonsenseHarmsNobody() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        try (TestSpace space = new TestSpace(1, 2, 1 << 20, 100);
                MapSession session = space.map.openSession();
                RemoteMemory stranger = RemoteMemory.open(TestDevice.client(), "stranger")) {
            long id = space.spaces.getFirst().id();
            RpcOptions options = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(MapCalls.RECORD_BYTES);
            RemoteServer known = space.spaces.getFirst().server();
            RemoteServer other = stranger.attach(known.address());
            try (RpcQueue theirs = stranger.openRpcQueue(options);
                    RegisteredBuffer buffer = stranger.register(2L * MapCalls.RECORD_BYTES)) {
                for (int operation = 0; operation < OPERATIONS; operation++) {
                    buffer.segment().fill((byte) 0);
                    buffer.segment().set(WORD, 0, id);
                    call(theirs, other, buffer, MapCalls.REGISTER + operation, MapCalls.RECORD_BYTES);
                    assertEquals(Outcome.DONE, outcome);
                    assertEquals(MapCalls.NO_MAP, buffer.segment().get(WORD, MapCalls.RECORD_BYTES));
                }
            }
            session.set(new byte[] {1}, new byte[] {2});
            try (RpcQueue ours = space.memory.openRpcQueue(options);
                    RegisteredBuffer buffer = space.memory.register(2L * MapCalls.RECORD_BYTES)) {
                for (int i = 0; i < CALLS; i++) {
                    int words = random.nextInt(random.nextInt(20) == 0 ? 1024 : 12);
                    for (int word = 0; word < words; word++) {
                        buffer.segment()
                                .set(WORD, word * 8L, word == 0 && random.nextInt(8) > 0 ? id : word(random, id));
                    }
                    int operation = random.nextInt(OPERATIONS);
                    // A member that takes blocks which it was not given, or gives blocks that another has, ruins the
                    // map; preventing that is up to the map's users.
                    if (operation != MapCalls.GIVE - MapCalls.REGISTER
                            && operation != MapCalls.TAKE - MapCalls.REGISTER
                            && operation != MapCalls.LEAVE - MapCalls.REGISTER) {
                        call(
                                ours,
                                known,
                                buffer,
                                MapCalls.REGISTER + operation,
                                Math.max(0, words * 8 - random.nextInt(8)));
                    }
                }
            }
            for (int i = 0; i < 1000; i++) {
                byte[] key = {(byte) i, 3};
                session.set(key, new byte[i % 100]);
                assertArrayEquals(new byte[i % 100], session.get(key), "seed " + seed);
            }
            assertTrue(space.map.audit().sound(), "seed " + seed);
        }
    }
}
