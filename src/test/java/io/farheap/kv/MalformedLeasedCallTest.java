package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.SpaceKey;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.leased.format.ShardCalls;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.RpcOptions;
import io.farheap.remote.RpcQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Any process with a lease on a server may send any bytes to the service for leased maps. */
class MalformedLeasedCallTest {

    private static final String NAME = "malformed";
    private static final int CALLS = Effort.either(10_000, 50_000);
    private static final int OPERATIONS = LeasedCalls.REPORT_RING - LeasedCalls.GET + 1;
    private static final int REPLY = 4096;
    private static final int OBJECTS = 200;
    /** The first key, so that no key is made of zeros. */
    private static final int FIRST = 0x51637586;

    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG;

    private int outcome;
    private int ended;

    private void call(
            RpcQueue queue, RemoteServer server, RegisteredBuffer buffer, int operation, int bytes, int room) {
        int before = ended;
        assertEquals(PostResult.OK, queue.call(server, operation, buffer, 0, bytes, REPLY, room, 0));
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

    /** A call of any bytes. */
    private interface Nonsense {
        /** @param space its number */
        void call(RpcQueue queue, RemoteServer server, RegisteredBuffer buffer, long space, SplittableRandom random);
    }

    /** Another process makes calls, and the objects of a map stay as they are. */
    private static void assertHarmless(int calls, Nonsense nonsense) {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        RpcOptions options = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(REPLY);
        try (TestServers servers = new TestServers(NAME);
                RemoteMemory process = RemoteMemory.open(TestDevice.client(), "another")) {
            String[] one = servers.startAll(1, 2, 4 << 20);
            RemoteServer server = process.attach(one[0]);
            try (FarMap map = servers.named(one)
                            .engine(FarMapBuilder.LEASED)
                            .memory(8 << 20)
                            .objects(40_000)
                            .create();
                    MapSession session = map.openSession();
                    RpcQueue queue = process.openRpcQueue(options);
                    RegisteredBuffer buffer = process.register(2L * REPLY)) {
                for (int i = 0; i < OBJECTS; i++) {
                    session.set(TestServers.key(FIRST + i), TestServers.value(i, 4 * i));
                }
                long id = process.openSpace(server, SpaceKey.of(NAME, TestServers.TOKEN))
                        .id();
                for (int i = 0; i < calls; i++) {
                    nonsense.call(queue, server, buffer, id, random);
                }
                for (int i = 0; i < OBJECTS; i++) {
                    assertArrayEquals(
                            TestServers.value(i, 4 * i),
                            session.get(TestServers.key(FIRST + i)),
                            "key " + i + ", seed " + seed);
                }
            }
        }
    }

    @Test
    void aStrangerIsRefusedAndAMembersNonsenseHarmsNobody() {
        assertHarmless(CALLS, (queue, server, buffer, space, random) -> {
            fill(buffer.segment(), random, space);
            int bytes = random.nextInt(random.nextInt(10) == 0 ? REPLY : 200);
            int room = random.nextInt(4) == 0 ? random.nextInt(REPLY) : LeasedCalls.ANSWER_VALUE;
            call(queue, server, buffer, LeasedCalls.GET + random.nextInt(OPERATIONS), bytes, room);
        });
    }

    /** Calls about the servers of a map, by a process that has it open. */
    @Test
    void nonsenseAboutServersTakesNoKeyFromItsServer() {
        int operations = ShardCalls.AUDIT - ShardCalls.REGISTER + 1;
        assertHarmless(CALLS / 4, (queue, server, buffer, space, random) -> {
            for (int at = 0; at < REPLY; at += Long.BYTES) {
                long small = random.nextInt(4);
                buffer.segment().set(WORD, at, random.nextInt(4) == 0 ? random.nextLong() : small);
            }
            if (random.nextInt(20) > 0) {
                buffer.segment().set(WORD, 0, space);
            }
            int words = random.nextInt(random.nextInt(10) == 0 ? 500 : 8);
            int operation = ShardCalls.REGISTER + random.nextInt(operations);
            call(queue, server, buffer, operation, words * Long.BYTES, random.nextInt(4) == 0 ? 8 : REPLY);
        });
    }

    /** Fills a request with what is nearly one now and then. */
    private static void fill(MemorySegment request, SplittableRandom random, long space) {
        for (int at = 0; at < REPLY; at += Long.BYTES) {
            request.set(WORD, at, random.nextInt(3) == 0 ? 0 : random.nextLong());
        }
        if (random.nextInt(10) > 0) {
            int keyBytes = random.nextInt(8) == 0 ? random.nextInt(1 << 16) : 1 + random.nextInt(24);
            int valueBytes = random.nextInt(8) == 0 ? random.nextInt() : random.nextInt(60);
            LeasedCalls.request(
                    request,
                    0,
                    random.nextInt(20) == 0 ? random.nextLong() : space,
                    keyBytes,
                    valueBytes,
                    random.nextLong(),
                    random.nextInt(8) == 0 ? random.nextLong() : random.nextInt(1000));
            if (random.nextInt(8) > 0) {
                LeasedCalls.name(request, 0, random.nextLong() >>> 1, random.nextInt(1100), 1 + random.nextInt(100));
            }
            if (keyBytes <= 24 && random.nextInt(8) == 0) {
                LeasedCalls.valueInArea(
                        request, 0, keyBytes, random.nextInt(8), random.nextInt(1 << 22), random.nextLong());
                request.set(ValueLayout.JAVA_INT, 12, 16_000 + random.nextInt(100_000));
            }
            if (keyBytes <= 24 && random.nextInt(4) > 0) {
                request.asSlice(LeasedCalls.KEY + keyBytes, 32 - keyBytes).fill((byte) 0);
            }
        }
    }

    /** The value of a set is where its call says, and what its call says, or nothing is stored. */
    @Test
    void aValueInAnAreaIsStoredWholeOrNotAtAll() {
        int length = 40_000;
        long regionBytes = 1 << 20;
        RpcOptions options = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(REPLY);
        try (TestServers servers = new TestServers(NAME);
                RemoteMemory process = RemoteMemory.open(TestDevice.client(), "area");
                RemoteMemory other = RemoteMemory.open(TestDevice.client(), "other")) {
            String[] one = servers.startAll(1, 4, regionBytes);
            try (FarMap map = servers.named(one)
                            .engine(FarMapBuilder.LEASED)
                            .memory(2 * regionBytes)
                            .objects(2000)
                            .create();
                    MapSession session = map.openSession()) {
                RemoteServer server = process.attach(one[0]);
                RemoteSpace space = process.openSpace(server, SpaceKey.of(NAME, TestServers.TOKEN));
                BlockChecksum checksum = new BlockChecksum(
                        LeasedDescriptor.decode(space.descriptor(), NAME).keyHash());
                RemoteRegion area = process.allocate(server, 1).getFirst();
                int stranger =
                        other.allocate(other.attach(one[0]), 1).getFirst().regionId();
                try (RpcQueue queue = process.openRpcQueue(options);
                        RemoteQueue writes = process.openQueue(QueueOptions.DEFAULT);
                        RegisteredBuffer value = process.register(length);
                        RegisteredBuffer buffer = process.register(2L * REPLY)) {
                    for (int i = 0; i < length; i++) {
                        value.segment().set(ValueLayout.JAVA_BYTE, i, (byte) (i * 7));
                    }
                    long sum = LeasedPieces.sumOfAll(value.segment(), 0, length, checksum);
                    int id = area.regionId();
                    Setting set = (operation, form, bytes, region, offset, of, count) -> {
                        buffer.segment().fill((byte) 0);
                        LeasedCalls.request(buffer.segment(), 0, space.id(), 8, bytes, 0, 0);
                        LeasedCalls.name(buffer.segment(), 0, LeasedCalls.session(3, 1), 5, count);
                        LeasedCalls.valueInArea(buffer.segment(), 0, 8, region, offset, of);
                        buffer.segment().set(ValueLayout.JAVA_SHORT, 10, (short) form);
                        buffer.segment().set(WORD, LeasedCalls.KEY, FIRST);
                        call(queue, server, buffer, operation, LeasedCalls.KEY + 8 + LeasedCalls.AREA_BYTES, 200);
                        return LeasedCalls.status(buffer.segment(), REPLY);
                    };
                    byte[] key = new byte[8];
                    MemorySegment.ofArray(key).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, FIRST);
                    // The area is still zero.
                    assertEquals(LeasedCalls.TORN, set.call(LeasedCalls.SET, 1, length, id, 0, sum, 1));
                    write(writes, area, value, length);
                    // The call has had its answer; another one stores the value.
                    assertEquals(LeasedCalls.TORN, set.call(LeasedCalls.SET, 1, length, id, 0, sum, 1));
                    assertNull(session.get(key));
                    assertEquals(LeasedCalls.TORN, set.call(LeasedCalls.SET, 1, length, id, 0, sum + 1, 2));
                    assertEquals(LeasedCalls.TORN, set.call(LeasedCalls.SET, 1, length - 1, id, 0, sum, 3));
                    assertEquals(LeasedCalls.TORN, set.call(LeasedCalls.SET, 1, length, id, 1, sum, 4));
                    assertEquals(KvStatus.DONE, set.call(LeasedCalls.SET, 1, length, id, 0, sum, 5));
                    long version = LeasedCalls.version(buffer.segment(), REPLY);
                    byte[] stored = value.segment().toArray(ValueLayout.JAVA_BYTE);
                    assertArrayEquals(Arrays.copyOf(stored, length), session.get(key));
                    // The call comes again, when the area has another value.
                    value.segment().fill((byte) 0);
                    write(writes, area, value, length);
                    assertEquals(KvStatus.DONE, set.call(LeasedCalls.SET, 1, length, id, 0, sum, 5));
                    assertEquals(version, LeasedCalls.version(buffer.segment(), REPLY));
                    assertEquals(LeasedCalls.TORN, set.call(LeasedCalls.SET, 1, length, id, 0, sum, 6));
                    int count = 7;
                    for (int region : new int[] {stranger, -1, 4, 1 << 30, Integer.MIN_VALUE}) {
                        assertEquals(
                                LeasedCalls.NO_AREA,
                                set.call(LeasedCalls.SET, 1, length, region, 0, sum, count++),
                                "region " + region);
                    }
                    for (long offset : new long[] {-1, regionBytes - length + 1, regionBytes, Long.MAX_VALUE}) {
                        assertEquals(
                                LeasedCalls.NO_AREA,
                                set.call(LeasedCalls.SET, 1, length, id, offset, sum, count++),
                                "offset " + offset);
                    }
                    assertEquals(
                            LeasedCalls.NO_AREA,
                            set.call(LeasedCalls.SET, 1, (int) regionBytes + 1, id, 0, sum, count++));
                    for (int bytes : new int[] {-1, 0, 100, 16 << 20 | 1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                        assertEquals(
                                LeasedCalls.WRONG,
                                set.call(LeasedCalls.SET, 1, bytes, id, 0, sum, count++),
                                bytes + " bytes");
                    }
                    for (int form : new int[] {0, 2, -1}) {
                        assertEquals(
                                LeasedCalls.WRONG,
                                set.call(LeasedCalls.SET, form, length, id, 0, sum, count++),
                                "form " + form);
                    }
                    for (int operation : new int[] {
                        LeasedCalls.GET, LeasedCalls.DELETE, LeasedCalls.TOUCH, LeasedCalls.INCREMENT, LeasedCalls.RENEW
                    }) {
                        assertEquals(LeasedCalls.WRONG, set.call(operation, 1, length, id, 0, sum, count++));
                    }
                    assertArrayEquals(Arrays.copyOf(stored, length), session.get(key));
                    process.release(area);
                    // The server learns that later, and until then finds zeros there.
                    int status = LeasedCalls.TORN;
                    while (status == LeasedCalls.TORN) {
                        status = set.call(LeasedCalls.SET, 1, length, id, 0, sum, count++);
                    }
                    assertEquals(LeasedCalls.NO_AREA, status);
                }
            }
        }
    }

    /** A set whose value is in an area. */
    private interface Setting {
        int call(int operation, int form, int bytes, int region, long offset, long sum, int count);
    }

    private static void write(RemoteQueue queue, RemoteRegion region, RegisteredBuffer value, int bytes) {
        assertEquals(PostResult.OK, queue.write(region, 0, value, 0, bytes, 0));
        while (queue.poll((tag, how) -> assertEquals(Outcome.DONE, how)) == 0) {
            queue.await(1_000_000);
        }
    }

    /** A shard's thread follows what the shard's memory says; so it serves no space that clients can write. */
    @Test
    void aSpaceThatClientsCanWriteIsNoLeasedMap() {
        RpcOptions options = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(REPLY);
        try (TestServers servers = new TestServers(NAME);
                RemoteMemory process = RemoteMemory.open(TestDevice.client(), "writer")) {
            RemoteServer server = process.attach(servers.startAll(1, 2, 1 << 20)[0]);
            byte[] descriptor =
                    new LeasedDescriptor(1, 0, 1, 2, 1 << 20, 100, 1000, 1000, 16, new KeyHash(1, 2)).encode();
            for (boolean readOnly : new boolean[] {false, true}) {
                try (RemoteSpace space = process.createSpace(
                                server, SpaceKey.of(NAME, TestServers.TOKEN), 2, 0, descriptor, readOnly);
                        RpcQueue queue = process.openRpcQueue(options);
                        RegisteredBuffer buffer = process.register(2L * REPLY)) {
                    buffer.segment().fill((byte) 0);
                    LeasedCalls.request(buffer.segment(), 0, space.id(), 8, 0, 0, 0);
                    call(queue, server, buffer, LeasedCalls.GET, LeasedCalls.KEY + 8, 200);
                    assertEquals(
                            readOnly ? KvStatus.ABSENT : LeasedCalls.NO_MAP,
                            LeasedCalls.status(buffer.segment(), REPLY));
                    space.drop();
                }
                servers.awaitFree(0, 2);
            }
        }
    }

    @Test
    void aProcessWithoutTheMapIsRefused() {
        RpcOptions options = RpcOptions.DEFAULT.with(2, 1).withRecordBytes(REPLY);
        try (TestServers servers = new TestServers(NAME);
                RemoteMemory process = RemoteMemory.open(TestDevice.client(), "stranger")) {
            String[] one = servers.startAll(1, 2, 1 << 20);
            RemoteServer server = process.attach(one[0]);
            try (FarMap map = servers.named(one)
                            .engine(FarMapBuilder.LEASED)
                            .memory(2 << 20)
                            .objects(2000)
                            .create();
                    RemoteMemory member = RemoteMemory.open(TestDevice.client(), "member");
                    RpcQueue queue = process.openRpcQueue(options);
                    RegisteredBuffer buffer = process.register(2L * REPLY)) {
                long id = member.openSpace(member.attach(one[0]), SpaceKey.of(NAME, TestServers.TOKEN))
                        .id();
                for (int operation = 0; operation < OPERATIONS; operation++) {
                    LeasedCalls.request(buffer.segment(), 0, id, 8, 0, 0, 0);
                    LeasedCalls.name(buffer.segment(), 0, LeasedCalls.session(1, 1), 0, 1);
                    call(queue, server, buffer, LeasedCalls.GET + operation, LeasedCalls.KEY + 8, 200);
                    assertEquals(LeasedCalls.NO_MAP, LeasedCalls.status(buffer.segment(), REPLY), "call " + operation);
                }
                assertEquals(0, map.stats().objects());
            }
        }
    }
}
