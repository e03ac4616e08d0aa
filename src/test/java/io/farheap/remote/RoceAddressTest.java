package io.farheap.remote;

import static io.farheap.testing.SoftRoce.LINK_LOCAL;
import static io.farheap.testing.SoftRoce.UNIQUE_LOCAL;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ControlPlane;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.PlaneProxy;
import io.farheap.testing.SoftRoce;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.PortOptions;
import io.farheap.verbs.VerbsException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Clients and servers on Ethernet find a pair of GIDs over the control plane, whichever of their addresses each may
 * use. softverbs refuses a connection whose two GIDs are not of one type and family.
 */
@Needs(Need.SOFTVERBS)
@ExtendWith(SoftRoce.class)
class RoceAddressTest {

    private static final long REGION_BYTES = 64 * 1024;
    private static final byte[] NONE = {};

    /** The endpoints of the servers' queue pairs, as clients receive them. */
    private final List<Endpoint> answers = new CopyOnWriteArrayList<>();

    private static PortOptions port(String gid) {
        PortOptions any = PortOptions.of(TestDevice.client());
        return gid.isEmpty() ? any : any.gid(gid);
    }

    /** Writes and reads a word between a client and a server that may use these GIDs; empty for any. */
    private void exchange(String client, String server, UnaryOperator<ControlPlane> between) throws Exception {
        ServerOptions options =
                new ServerOptions(REGION_BYTES, REGION_BYTES, TestDevice.patience(30_000_000_000L), "", "roce");
        try (MemoryServer memory = MemoryServer.open(options.device(port(server)));
                ControlServer control = ControlServer.start("127.0.0.1:0", between.apply(Planes.of(memory)));
                RemoteMemory remote = RemoteMemory.open(port(client), "test", lost -> {})) {
            RemoteServer attached = remote.attach(control.address());
            RemoteRegion region = remote.allocate(attached, 1).getFirst();
            RegisteredBuffer buffer = remote.register(4096);
            RemoteQueue queue = remote.openQueue(QueueOptions.DEFAULT);
            buffer.segment().set(JAVA_LONG, 0, 42);
            await(queue, queue.write(region, 0, buffer, 0, 8, 1));
            await(queue, queue.read(region, 0, buffer, 8, 8, 2));
            assertEquals(42, buffer.segment().get(JAVA_LONG, 8));
        }
    }

    private static void await(RemoteQueue queue, int posted) {
        assertEquals(PostResult.OK, posted);
        while (queue.poll((tag, outcome) -> assertEquals(Outcome.DONE, outcome)) == 0) {
            queue.await(1_000_000);
        }
    }

    private ControlPlane watched(ControlPlane plane) {
        return changed(plane, end -> end, end -> {
            answers.add(end);
            return end;
        });
    }

    /** A plane whose {@code connect} gets another endpoint of the client, and returns another one of the server. */
    private static ControlPlane changed(
            ControlPlane plane, UnaryOperator<Endpoint> request, UnaryOperator<Endpoint> answer) {
        return PlaneProxy.around(plane, (method, arguments, rest) -> {
            if (!method.equals("connect")) {
                return rest.call();
            }
            ConnectedQueuePair made = plane.connect((Long) arguments[0], request.apply((Endpoint) arguments[1]));
            return new ConnectedQueuePair(made.connectionId(), answer.apply(made.server()));
        });
    }

    private String answered() {
        return HexFormat.of().formatHex(answers.getLast().gid());
    }

    @Test
    void anyWithAnyIsIpv4() throws Exception {
        exchange("", "", this::watched);
        assertEquals("00000000000000000000ffff7f000001", answered());
    }

    @Test
    void theServerMeetsTheClientsFamily() throws Exception {
        exchange(UNIQUE_LOCAL, "", this::watched);
        assertTrue(answered().startsWith("fd00"), answered());
        exchange(LINK_LOCAL, "", this::watched);
        assertTrue(answered().startsWith("fe80"), answered());
    }

    @Test
    void theClientMeetsTheServersFamily() throws Exception {
        exchange("", UNIQUE_LOCAL, this::watched);
        exchange("", LINK_LOCAL, this::watched);
        exchange("", "0", this::watched);
        assertTrue(answered().startsWith("fe80"), "entry 0 is RoCEv1, and the client has one of that type");
        exchange("1", "", this::watched);
        assertEquals("00000000000000000000ffff7f000001", answered());
    }

    @Test
    void nothingInCommonIsOneSentenceWithBothLists() {
        String said = assertThrows(ControlException.class, () -> exchange("3", "5", this::watched))
                .getMessage();
        assertTrue(
                said.contains(
                        "no GID of this end, which has GID 5 fd00:0:0:0:273:6fff:fe66:7476 (RoCEv2), is of the same "
                                + "type and address family as one of that end, which has 127.0.0.1 (RoCEv2); give both ports"),
                said);
    }

    @Test
    void aGidThatTheServerDoesNotHaveIsRefusedAtOpening() {
        String said = assertThrows(VerbsException.class, () -> exchange("", "10.1.2.3", this::watched))
                .getMessage();
        assertTrue(said.startsWith("10.1.2.3 names no GID of port 1 of soft0, which has GID 0 fe80:"), said);
        assertTrue(assertThrows(VerbsException.class, () -> exchange("eth9", "", this::watched))
                .getMessage()
                .startsWith("eth9 names no GID of port 1 of soft0"));
        String level = assertThrows(
                        VerbsException.class, () -> RemoteMemory.open(port("").serviceLevel(8), "test", lost -> {}))
                .getMessage();
        assertTrue(
                level.contains("a service level of 8 for port 1 of soft0, which is on Ethernet; it must be 0 to 7"),
                level);
    }

    /** An end with another list of its GIDs, and another choice among the peer's. */
    private static Endpoint with(Endpoint end, byte[] gids, byte[] peerGid) {
        return new Endpoint(
                end.queuePairNumber(),
                end.packetSequenceNumber(),
                end.lid(),
                end.gid(),
                end.pathMtu(),
                end.initiatorDepth(),
                end.responderResources(),
                end.softverbsUser(),
                end.softverbsHost(),
                gids,
                peerGid);
    }

    private static Endpoint old(Endpoint end) {
        return with(end, NONE, NONE);
    }

    /**
     * An older client sends the server one GID, and an older server sends the client one: each meets it in its family.
     */
    @Test
    void olderPeersStillConnect() throws Exception {
        UnaryOperator<ControlPlane> older =
                plane -> watched(changed(plane, RoceAddressTest::old, RoceAddressTest::old));
        exchange("", "", older);
        assertEquals("00000000000000000000ffff7f000001", answered());
        exchange(UNIQUE_LOCAL, "", older);
        assertTrue(answered().startsWith("fd00"), answered());
    }

    /** A server sends to an address that the client has not offered: the client refuses the connection. */
    @Test
    void aHostileAnswerIsRefused() {
        UnaryOperator<Endpoint> foreign = end -> {
            byte[] entry = end.peerGid().clone();
            assertFalse(entry.length == 0);
            entry[17]++;
            return with(end, end.gids(), entry);
        };
        String said = assertThrows(
                        RuntimeException.class, () -> exchange("", "", plane -> changed(plane, end -> end, foreign)))
                .getMessage();
        assertTrue(said.contains("it sends to 127.0.0.2 (RoCEv2), and this end has GID 3 127.0.0.1 (RoCEv2)"), said);
    }
}
