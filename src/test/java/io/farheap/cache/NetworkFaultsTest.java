package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Shell;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A cache whose network between client and servers has faults. Clients are at one end of the guest's cable, servers at
 * the other.
 */
@Needs({Need.GUEST, Need.TWO_DEVICES})
class NetworkFaultsTest {

    private static final int REGIONS = 4;
    private static final int CAPACITY = REGIONS * (int) Cluster.REGION_BYTES;

    @AfterEach
    void mend() {
        Shell.result(
                "tc qdisc del dev veth0 root; tc qdisc del dev veth1 root; ip link set veth0 up; ip link set veth1 up;"
                        + " for i in $(seq 100); do rdma link show | grep -q 'state DOWN' || exit 0; sleep 0.1; done");
    }

    @Test
    void lossChangesNothingButTime() {
        Shell.run("modprobe sch_netem; for end in veth0 veth1; do tc qdisc add dev $end root netem loss 2%; done");
        long repeated = repeated();
        try (Cluster cluster = new Cluster(REGIONS, REGIONS);
                Cache cache = Cache.builder()
                        .capacity(CAPACITY)
                        .servers(cluster.addresses())
                        .device(TestDevice.client())
                        .create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(CAPACITY)) {
            SplittableRandom random = new SplittableRandom(42);
            byte[] shadow = new byte[CAPACITY];
            for (int i = 0; i < 100; i++) {
                int length = 1 + random.nextInt(random.nextBoolean() ? 100 : 60_000);
                int address = random.nextInt(CAPACITY - length + 1);
                byte[] bytes = new byte[length];
                random.nextBytes(bytes);
                System.arraycopy(bytes, 0, shadow, address, length);
                MemorySegment.copy(bytes, 0, buffer.segment(), JAVA_BYTE, 0, length);
                session.writeBlocking(address, buffer, 0, length);
                if (i % 25 == 0) {
                    cache.migrate(random.nextInt(REGIONS), cluster.address(random.nextInt(2)));
                }
            }
            session.readBlocking(0, buffer, 0, CAPACITY);
            assertEquals(-1, MemorySegment.ofArray(shadow).mismatch(buffer.segment()));
        }
        assertTrue(repeated() > repeated, "no packet was lost: the test tests nothing");
    }

    /** The far server is behind the cable, the near one on the client's own device. */
    @Test
    void aCableThatIsPulledCutsOffWhatIsBehindItAndNothingElse() {
        try (Cluster cluster = new Cluster()) {
            String far = cluster.add(REGIONS, TestDevice.server());
            String near = cluster.add(REGIONS, TestDevice.client());
            try (Cache cache = Cache.builder()
                            .capacity(CAPACITY)
                            .servers(far, near)
                            .device(TestDevice.client())
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(4096)) {
                assertEquals(far, cache.serverOf(0));
                session.writeBlocking(0, buffer, 0, 4096);
                Shell.run("ip link set veth1 down");

                int[] ended = {-1};
                session.write(0, buffer, 0, 8, (token, status) -> ended[0] = status, 0);
                session.drain();
                // The lease holds, since the control plane has another way.
                assertEquals(Status.UNKNOWN, ended[0]);
                CacheException cut = assertThrows(CacheException.class, () -> session.readBlocking(0, buffer, 0, 8));
                assertEquals(Status.UNREACHABLE, cut.status());

                session.writeBlocking(Cluster.REGION_BYTES, buffer, 0, 4096);
                session.readBlocking(Cluster.REGION_BYTES, buffer, 0, 4096);
                assertThrows(CacheException.class, () -> cache.migrate(0, near));
                session.readBlocking(Cluster.REGION_BYTES, buffer, 0, 4096);
            }
            mend();
            try (Cache cache = Cache.builder()
                            .capacity(CAPACITY)
                            .servers(far)
                            .device(TestDevice.client())
                            .create();
                    CacheSession session = cache.openSession();
                    Buffer buffer = cache.allocate(4096)) {
                session.writeBlocking(0, buffer, 0, 4096);
            }
        }
    }

    /** @return how many packets either device had to send again, or received again */
    private static long repeated() {
        return Shell.run(
                        "cat /sys/class/infiniband/rxe*/ports/1/hw_counters/{duplicate_request,out_of_seq_request,rcvd_seq_err,completer_retry_err}")
                .lines()
                .mapToLong(Long::parseLong)
                .sum();
    }
}
