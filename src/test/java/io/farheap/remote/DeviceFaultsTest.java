package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LeasedServer;
import io.farheap.testing.ControlCable;
import io.farheap.testing.DeviceFaults;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Rot;
import io.farheap.testing.Softverbs;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One server of two is broken; the other serves as before. */
@Needs(Need.SOFTVERBS)
class DeviceFaultsTest {

    private static final int LENGTH = 4096;
    private static final int BROKEN = 0;
    private static final int WELL = 1;

    private TestServers servers;
    private DeviceFaults faults;
    private RemoteMemory memory;
    private RemoteQueue queue;
    private RegisteredBuffer buffer;
    private final List<RemoteServer> attached = new ArrayList<>();
    private final List<RemoteRegion> regions = new ArrayList<>();
    private final Tags tags = new Tags();

    @BeforeEach
    void open() {
        Softverbs.devices(3);
        servers = TestServers.on(2, "soft1", "soft2");
        faults = DeviceFaults.of("soft1");
        memory = RemoteMemory.open("soft0", "test");
        for (int i = 0; i < servers.count(); i++) {
            attached.add(memory.attach(servers.address(i)));
            regions.addAll(memory.allocate(attached.get(i), 1));
        }
        queue = memory.openQueue(new QueueOptions(16, 24, 64));
        buffer = memory.register(2 * LENGTH);
        buffer.segment().asSlice(0, LENGTH).fill((byte) 0x55);
    }

    @AfterEach
    void close() {
        faults.close();
        memory.close();
        servers.close();
        Softverbs.devices(1);
    }

    private int write(int server) {
        int before = tags.all.size();
        assertEquals(PostResult.OK, queue.write(regions.get(server), 0, buffer, 0, LENGTH, server));
        return tags.await(queue, before + 1).getLast().outcome();
    }

    private int read(int server) {
        int before = tags.all.size();
        buffer.segment().asSlice(LENGTH).fill((byte) 0);
        assertEquals(PostResult.OK, queue.read(regions.get(server), 0, buffer, LENGTH, LENGTH, server));
        return tags.await(queue, before + 1).getLast().outcome();
    }

    /** The number of bytes that were read and differ from the written ones. */
    private int wrongBytes() {
        int wrong = 0;
        MemorySegment read = buffer.segment().asSlice(LENGTH);
        for (int i = 0; i < LENGTH; i++) {
            wrong += read.get(JAVA_BYTE, i) == 0x55 ? 0 : 1;
        }
        return wrong;
    }

    private void assertReads(int server, int wrong) {
        assertEquals(Outcome.DONE, read(server));
        assertEquals(wrong, wrongBytes());
    }

    private void assertServes(int server) {
        assertEquals(Outcome.DONE, write(server));
        assertReads(server, 0);
    }

    @Test
    void oneIsSlow() {
        assertServes(BROKEN);
        faults.slow(1, 20_000_000);
        long start = System.nanoTime();
        assertReads(BROKEN, 0);
        assertTrue(System.nanoTime() - start >= 20_000_000);
        // A pending request of the slow server does not hold up one of the other server.
        assertEquals(PostResult.OK, queue.read(regions.get(BROKEN), 0, buffer, LENGTH, LENGTH, 70));
        assertEquals(PostResult.OK, queue.write(regions.get(WELL), 0, buffer, 0, LENGTH, 71));
        tags.await(queue, 5);
        assertEquals(
                List.of(71L, 70L),
                tags.all.subList(3, 5).stream().map(Tags.Tag::tag).toList());
    }

    @Test
    void oneCorruptsWhatItStores() {
        faults.corruptWrites(1);
        assertEquals(Outcome.DONE, write(BROKEN));
        faults.close();
        assertReads(BROKEN, 1);
        assertServes(BROKEN);
        assertServes(WELL);
    }

    @Test
    void oneCorruptsWhatItAnswers() {
        assertServes(BROKEN);
        faults.corruptReads(1);
        assertReads(BROKEN, 1);
        assertServes(WELL);
        faults.close();
        assertReads(BROKEN, 0);
    }

    @Test
    void oneRots() throws Exception {
        assertServes(BROKEN);
        assertServes(WELL);
        Rot.invert(ProcessHandle.current().pid(), regions.get(BROKEN).address() + 100, 3);
        assertReads(BROKEN, 3);
        assertReads(WELL, 0);
    }

    @Test
    void oneLosesEverything() {
        assertServes(BROKEN);
        faults.lose(1);
        assertEquals(Outcome.UNKNOWN, write(BROKEN));
        assertServes(WELL);
    }

    /** The control plane still works: the lease is kept, and a new connection can be made when the cable is back. */
    @Test
    void oneIsCutOffAndComesBack() {
        assertServes(BROKEN);
        faults.cut();
        assertEquals(Outcome.UNKNOWN, read(BROKEN));
        assertFalse(queue.connected(attached.get(BROKEN)));
        assertServes(WELL);
        faults.heal();
        queue.reconnect(attached.get(BROKEN), 99);
        assertEquals(Tags.done(99), tags.await(queue, tags.all.size() + 1).getLast());
        assertReads(BROKEN, 0);
    }

    @Test
    void aShortCutIsTimeOnly() {
        assertServes(BROKEN);
        faults.cut();
        assertEquals(PostResult.OK, queue.read(regions.get(BROKEN), 0, buffer, LENGTH, LENGTH, 7));
        assertEquals(0, queue.poll(tags));
        assertServes(WELL);
        assertEquals(4, tags.all.size());
        faults.heal();
        assertEquals(Tags.done(7), tags.await(queue, 5).getLast());
    }

    /** The data path works while the control plane is silent; calls made meanwhile are answered when it is back. */
    @Test
    void theControlPlaneOfOneIsCutOff() throws Exception {
        try (ControlCable cable = new ControlCable(servers.address(BROKEN))) {
            RemoteServer server = memory.attach(cable.address());
            RemoteRegion region = memory.allocate(server, 1).getFirst();
            memory.connectQueues(server);
            cable.cut();
            assertEquals(PostResult.OK, queue.write(region, 0, buffer, 0, LENGTH, 1));
            assertEquals(Tags.done(1), tags.await(queue, 1).getLast());
            LeasedServer leased = LeasedServer.of(server);
            ControlException silent = assertThrows(ControlException.class, () -> leased.export(region));
            assertEquals(Code.DEADLINE_EXCEEDED, silent.code());
            cable.mend();
            leased.export(region);
            assertEquals(null, server.lost());
        }
    }
}
