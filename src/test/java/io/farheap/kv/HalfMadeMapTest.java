package io.farheap.kv;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.FakeMap;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.TestDevice;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Maps of which a client's create or drop ended half-way have spaces on some of their servers alone. */
class HalfMadeMapTest {

    private static final String NAME = "half";
    private static final int REGIONS = 4;
    private static final long REGION_BYTES = 1 << 20;
    private static final SpaceKey KEY = SpaceKey.of(NAME, TestServers.TOKEN);

    @Test
    void aHalfMadeMapIsEnded() {
        try (TestServers servers = new TestServers(NAME)) {
            String[] addresses = servers.startAll(2, REGIONS, REGION_BYTES);
            try (RemoteMemory client = RemoteMemory.open(TestDevice.client(), "dies")) {
                byte[] descriptor = FakeMap.descriptor(2, 2, REGION_BYTES).of(1).encode();
                client.createSpace(client.attach(addresses[1]), KEY, 2, SpacePlane.FOR_EVER, descriptor);
            }
            assertThrows(ControlException.class, () -> map(servers, addresses).create());
            String refused = assertThrows(ControlException.class, () -> servers.named(addresses)
                            .open())
                    .getMessage();
            assertTrue(refused.contains(addresses[1]) && refused.contains("kv drop --parts"), refused);
            // The map may be sound: then nothing must be dropped.
            int left = refused.indexOf("leave out servers that have left the map");
            int beingMade = refused.indexOf("try again if it is being created");
            assertTrue(0 < left && left < beingMade && beingMade < refused.indexOf("kv drop --parts"), refused);
            endPartsAndUseAgain(servers, addresses);
        }
    }

    @Test
    void aHalfDroppedMapIsEnded() {
        try (TestServers servers = new TestServers(NAME)) {
            String[] addresses = servers.startAll(2, REGIONS, REGION_BYTES);
            map(servers, addresses).create().close();
            try (RemoteMemory client = RemoteMemory.open(TestDevice.client(), "dies")) {
                client.dropSpace(client.attach(addresses[0]), KEY);
            }
            assertThrows(ControlException.class, () -> servers.named(addresses).open());
            endPartsAndUseAgain(servers, addresses);
        }
    }

    /** A client ends between any two steps of a creation: the spaces of the servers before it are there. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void aCreationIsEndedAtEachStep(int done) {
        try (TestServers servers = new TestServers(NAME)) {
            String[] addresses = servers.startAll(3, REGIONS, REGION_BYTES);
            try (RemoteMemory client = RemoteMemory.open(TestDevice.client(), "dies")) {
                for (int i = 0; i < done; i++) {
                    byte[] descriptor =
                            FakeMap.descriptor(2, 3, REGION_BYTES).of(i).encode();
                    client.createSpace(client.attach(addresses[i]), KEY, 2, SpacePlane.FOR_EVER, descriptor);
                }
            }
            assertEquals(done, servers.named(addresses).dropParts());
            assertNothingIsLeft(servers, 3);
        }
    }

    /** A client ends between any two steps of a drop, which ends one space after the other; one server has joined. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4})
    void aDropIsEndedAtEachStep(int done) {
        try (TestServers servers = new TestServers(NAME)) {
            String[] addresses = servers.startAll(4, REGIONS, REGION_BYTES);
            try (FarMap map = servers.named(addresses[0], addresses[1], addresses[2])
                    .memory(3 * REGION_BYTES)
                    .objects(1000)
                    .create()) {
                map.addServer(addresses[3], REGION_BYTES);
            }
            try (RemoteMemory client = RemoteMemory.open(TestDevice.client(), "dies")) {
                for (int i = 0; i < done; i++) {
                    client.dropSpace(client.attach(addresses[i]), KEY);
                }
            }
            assertEquals(4 - done, servers.named(addresses).dropParts());
            assertNothingIsLeft(servers, 4);
        }
    }

    /** A client ends in the midst of adding a server, or of adding memory: its space, or regions, have no numbers. */
    @Test
    void whatTheMapDoesNotKnowIsEndedToo() {
        try (TestServers servers = new TestServers(NAME)) {
            String[] addresses = servers.startAll(3, REGIONS, REGION_BYTES);
            map(servers, addresses[0], addresses[1]).create().close();
            try (RemoteMemory client = RemoteMemory.open(TestDevice.client(), "dies")) {
                client.openSpace(client.attach(addresses[0]), KEY).grow(1);
                byte[] descriptor = FakeMap.descriptor(2, 2, REGION_BYTES).of(2).encode();
                client.createSpace(client.attach(addresses[2]), KEY, 2, SpacePlane.FOR_EVER, descriptor);
            }
            assertEquals(3, servers.named(addresses).dropParts());
            assertNothingIsLeft(servers, 3);
        }
    }

    private static void assertNothingIsLeft(TestServers servers, int of) {
        for (int i = 0; i < of; i++) {
            servers.awaitFree(i, REGIONS);
        }
    }

    private static FarMapBuilder map(TestServers servers, String... addresses) {
        return servers.named(addresses).memory(2 * REGION_BYTES).objects(1000);
    }

    private static void endPartsAndUseAgain(TestServers servers, String... addresses) {
        assertEquals(0, servers.named(addresses).token("another token").dropParts());
        assertEquals(1, servers.named(addresses).dropParts());
        assertEquals(0, servers.named(addresses).dropParts());
        servers.awaitFree(0, REGIONS);
        servers.awaitFree(1, REGIONS);
        byte[] key = TestServers.key(1);
        try (FarMap map = map(servers, addresses).create();
                MapSession session = map.openSession()) {
            session.set(key, key);
            assertArrayEquals(key, session.get(key));
        }
        assertEquals(2, servers.named(addresses).dropParts());
    }

    @Test
    void anotherProgramsSpaceOfTheNameAndTheTokenStays() {
        try (TestServers servers = new TestServers(NAME);
                RemoteMemory client = RemoteMemory.open(TestDevice.client(), "another program")) {
            String[] addresses = servers.startAll(2, REGIONS, REGION_BYTES);
            RemoteServer server = client.attach(addresses[0]);
            client.createSpace(server, KEY, 2, SpacePlane.FOR_EVER, "no map".getBytes(US_ASCII));
            byte[] part = FakeMap.descriptor(2, 2, REGION_BYTES).of(1).encode();
            // The version of the formats: a map of another release is a map.
            ByteBuffer.wrap(part).putInt(Long.BYTES, 1);
            client.createSpace(client.attach(addresses[1]), KEY, 2, SpacePlane.FOR_EVER, part);
            String refused = assertThrows(
                            MapException.class, () -> servers.named(addresses).dropParts())
                    .getMessage();
            assertTrue(refused.contains(addresses[0]) && refused.contains("is no map"), refused);
            assertEquals(1, client.spaces(server).size());
            servers.awaitFree(1, REGIONS);
        }
    }

    /** The parts that can be reached are ended, although another server cannot be reached. */
    @Test
    void aLostServerKeepsNoPartOfTheOthers() {
        try (TestServers servers = new TestServers(NAME)) {
            String[] addresses = servers.startAll(2, REGIONS, REGION_BYTES);
            map(servers, addresses).create().close();
            servers.stop(0);
            assertThrows(ControlException.class, () -> servers.named(addresses).dropParts());
            servers.awaitFree(0, REGIONS);
            assertEquals(0, servers.named(addresses[1]).dropParts());
        }
    }
}
