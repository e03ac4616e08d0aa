package io.farheap.control.grpc;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.SpaceGrant;
import io.farheap.control.plane.SpaceGrowth;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.wire.CreateSpaceRequest;
import io.farheap.control.wire.GrowSpaceReply;
import io.farheap.control.wire.ListSpacesReply;
import io.farheap.control.wire.Region;
import io.farheap.control.wire.SpaceReply;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls about shared spaces, over real sockets; invalid keys and answers are refused. */
class SpaceRoundTripTest {

    private static final long LEASE = Long.MIN_VALUE + 1;
    private static final SpaceKey KEY = SpaceKey.of("tést", "0123456789");
    private static final ServerDescription SERVER =
            new ServerDescription(1, "hostile", "", ControlPlane.PROTOCOL_VERSION, 1L << 20, 4, 4);

    private final InMemoryPlane plane = new InMemoryPlane();
    private ControlServer server;
    private ControlClient client;
    private SpacePlane spaces;

    @BeforeEach
    void start() {
        server = ControlServer.start("127.0.0.1:0", plane);
        client = ControlClient.connect(server.address());
        spaces = client.spaces();
    }

    @AfterEach
    void stop() {
        client.close();
        server.close();
    }

    private Object lastCall() {
        return plane.calls.getLast();
    }

    private static RegionGrant region(int i) {
        return new RegionGrant(i, 0xFFFF_FFFF_0000_0000L + i, 0x8000_0000 + i, 1L << 30);
    }

    @Test
    void everyCallCarriesItsValuesBothWays() {
        byte[] descriptor = new byte[SpacePlane.MAX_DESCRIPTOR_BYTES];
        descriptor[255] = -1;
        SpaceGrant created = spaces.create(LEASE, KEY, 3, 77, descriptor, -11L);
        assertEquals(List.of("create", LEASE, "tést", 10, 3, 77L, 256, -11L, false), lastCall());
        spaces.create(LEASE, KEY, 3, 77, descriptor, -11L, true);
        assertEquals(List.of("create", LEASE, "tést", 10, 3, 77L, 256, -11L, true), lastCall());
        assertEquals(-5L, created.spaceId());
        assertEquals(-6L, created.openingId());
        assertEquals(77, created.millisLeft());
        assertArrayEquals(descriptor, created.descriptor());
        assertEquals(List.of(region(0), region(1), region(2)), created.regions());

        SpaceGrant opened = spaces.open(LEASE, KEY);
        assertEquals(List.of("open", LEASE, "tést", 10), lastCall());
        assertEquals(SpacePlane.FOR_EVER, opened.millisLeft());
        assertEquals(2, opened.regions().size());

        assertEquals(new SpaceGrowth(2, List.of(region(2))), spaces.grow(LEASE, KEY, 1, -12L));
        assertEquals(List.of("grow", LEASE, "tést", 1, -12L), lastCall());
        assertEquals(6, spaces.extend(LEASE, KEY, 5));
        assertEquals(List.of("extend", LEASE, "tést", 5L), lastCall());
        spaces.close(LEASE, -6L);
        assertEquals(List.of("close", LEASE, -6L), lastCall());
        spaces.drop(LEASE, KEY, -5L);
        assertEquals(List.of("drop", LEASE, "tést", -5L), lastCall());
        assertEquals(List.of(new SpaceInfo("tést", 3, SpacePlane.MAX_MILLIS, 2)), spaces.list(LEASE));
        assertEquals(List.of("list", LEASE), lastCall());
    }

    @Test
    void refusalsKeepTheirCode() {
        plane.failWith = new ControlException(Code.NOT_FOUND, "no such space");
        ControlException e = assertThrows(ControlException.class, () -> spaces.open(LEASE, KEY));
        assertEquals(Code.NOT_FOUND, e.code());
        assertTrue(e.getMessage().contains("no such space"), e.getMessage());
    }

    @Test
    void aKeyThatIsNoneIsRefusedAtTheClient() {
        String[] names = {"", "x".repeat(129), "a\nb", "a\u001b[2J"};
        for (String name : names) {
            assertThrows(IllegalArgumentException.class, () -> SpaceKey.of(name, "0123456789"));
        }
        for (int bytes : new int[] {0, 7, 65}) {
            String message = assertThrows(IllegalArgumentException.class, () -> new SpaceKey("a", new byte[bytes]))
                    .getMessage();
            assertTrue(message.contains(bytes + " bytes") && message.contains("8 to 64"), message);
        }
        assertFalse(KEY.toString().contains("0123"));
    }

    /** This client sends no such key, but another program may. */
    @Test
    void aKeyThatIsNoneIsRefusedAtTheServer() {
        var message = io.farheap.control.wire.SpaceKey.newBuilder()
                .setName("x".repeat(200))
                .setToken(ByteString.copyFrom(new byte[8]))
                .build();
        ControlException e = assertThrows(ControlException.class, () -> ControlMessages.key(message));
        assertEquals(Code.INVALID_ARGUMENT, e.code());
        assertEquals(
                Code.INVALID_ARGUMENT,
                assertThrows(
                                ControlException.class,
                                () -> ControlMessages.key(
                                        CreateSpaceRequest.getDefaultInstance().getKey()))
                        .code());
    }

    private static SpaceReply.Builder reply(int regions) {
        SpaceReply.Builder reply = SpaceReply.newBuilder().setSpaceId(1).setOpeningId(2);
        for (int i = 0; i < regions; i++) {
            reply.addRegions(Region.newBuilder()
                    .setRegionId(i)
                    .setRemoteAddress(1L << 20)
                    .setLength(1L << 20));
        }
        return reply;
    }

    private static void refused(String why, SpaceReply.Builder reply, int asked) {
        String message = assertThrows(
                        IllegalArgumentException.class, () -> SpaceReplyReader.space(reply.build(), asked, SERVER))
                .getMessage();
        assertTrue(message.contains(why), message);
    }

    @Test
    void anAnswerThatMakesNoSenseIsRefused() {
        assertEquals(
                2, SpaceReplyReader.space(reply(2).build(), 2, SERVER).regions().size());
        refused("id 0", reply(1).setSpaceId(0), 1);
        refused("a space of 0 regions", reply(0), 0);
        refused("a space of 1 regions", reply(1), 2);
        refused("region 4 of a server", reply(5), 1);
        refused("descriptor of 257 bytes", reply(1).setDescription(ByteString.copyFrom(new byte[257])), 1);
        refused("ms", reply(1).setMillisLeft(-1), 1);
        refused("ms", reply(1).setMillisLeft(Long.MAX_VALUE), 1);

        for (int first : new int[] {0, -1, 4, Integer.MAX_VALUE}) {
            GrowSpaceReply growth = GrowSpaceReply.newBuilder()
                    .setFirst(first)
                    .addRegions(reply(1).getRegions(0))
                    .build();
            assertThrows(IllegalArgumentException.class, () -> SpaceReplyReader.growth(growth, 1, SERVER));
        }
        var info = io.farheap.control.wire.SpaceInfo.newBuilder()
                .setName("a\u001b[2J")
                .setRegions(1);
        assertEquals(
                "a\\u001b[2J",
                SpaceReplyReader.list(
                                ListSpacesReply.newBuilder().addSpaces(info).build(), SERVER)
                        .getFirst()
                        .name());
        assertThrows(
                IllegalArgumentException.class,
                () -> SpaceReplyReader.list(
                        ListSpacesReply.newBuilder()
                                .addSpaces(info.setRegions(5))
                                .build(),
                        SERVER));
    }

    /** Such as a server of an earlier release. */
    @Test
    void aServerWithoutSpacesIsSaidToBeOlder() {
        try (HostileControl older = new HostileControl()) {
            older.hello = io.farheap.control.wire.HelloReply.newBuilder()
                    .setProtocolVersion(ControlPlane.PROTOCOL_VERSION)
                    .setRegionBytes(1 << 20)
                    .setTotalRegions(1)
                    .build();
            try (ControlClient other = ControlClient.connect(older.address())) {
                ControlException e = assertThrows(
                        ControlException.class, () -> other.spaces().open(LEASE, KEY));
                assertEquals(Code.PROTOCOL_MISMATCH, e.code());
                assertTrue(e.getMessage().contains("no shared spaces"), e.getMessage());
            }
        }
    }
}
