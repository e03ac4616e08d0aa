package io.farheap.server;

import static io.farheap.testing.SoftRoce.LINK_LOCAL;
import static io.farheap.testing.SoftRoce.UNIQUE_LOCAL;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.coding.Coder;
import io.farheap.coding.ErasureCode;
import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.rpc.RingShape;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.ConnectedGids;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.SoftRoce;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.PortOptions;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * On Ethernet, both ends of message rings, of pulls and of rebuilds find a pair of GIDs, whichever each may use.
 * softverbs refuses a connection whose two GIDs are not of one type and family.
 */
@Needs(Need.SOFTVERBS)
@ExtendWith(SoftRoce.class)
class RoceConnectionsTest {

    private static final int REGION = 256 << 10;
    private static final int PAGE = TestClient.PAGE;
    private static final long LEASE = 300_000_000_000L;
    private static final int DATA = 3;
    private static final int PARITY = 2;

    private static final String ANY = "";
    /** The entry of the IPv4 address as RoCEv1. */
    private static final String IPV4_V1 = "1";

    private final ConnectedGids connected = new ConnectedGids();

    @AfterEach
    void clear() {
        System.clearProperty("farheap.gid");
    }

    /** A server that may use these GIDs, and a client of it that may use any. */
    private final class Site implements AutoCloseable {
        final ServerPlane server;
        final ControlServer control;
        final ControlClient plane;
        final TestClient client;

        Site(String gid) {
            ServerOptions options =
                    new ServerOptions(2L * REGION, REGION, LEASE, TestDevice.server(), "roce", 1, false, Idle.PARK);
            PortOptions any = PortOptions.of(TestDevice.server());
            server = ServerPlane.open(gid.isEmpty() ? options : options.device(any.gid(gid)));
            control = ControlServer.start("127.0.0.1:0", connected.noting(server));
            plane = ControlClient.connect(control.address());
            client = new TestClient(plane);
        }

        long lease() {
            return client.lease.id();
        }

        byte[] export(RegionGrant region) {
            return plane.export(lease(), region.regionId()).token();
        }

        @Override
        public void close() {
            client.close();
            plane.close();
            control.close();
            server.close();
        }
    }

    private static void exchangeByRing(Site site) {
        try (BatchClient ring = new BatchClient(site.plane, new RingShape(1, 1), 1)) {
            int region = ring.allocate().regionId();
            ring.memory().set(JAVA_LONG, 0, 42);
            assertEquals(0, ring.write(region, 0, 8, 0));
            assertEquals(0, ring.read(region, 0, 8, 8));
            assertEquals(42, ring.memory().get(JAVA_LONG, 8));
        }
    }

    @Test
    void aRingIsOfTheClientsFamily() {
        try (Site site = new Site(ANY)) {
            System.setProperty("farheap.gid", UNIQUE_LOCAL);
            exchangeByRing(site);
        }
        assertEquals(Set.of("fd00"), connected.of("connectRing"));
    }

    @Test
    void aRingIsOfTheServersFamily() {
        try (Site site = new Site(LINK_LOCAL)) {
            exchangeByRing(site);
        }
        assertEquals(Set.of("fe80"), connected.of("connectRing"));
    }

    @Test
    void aPullIsOfTheSourcesFamily() {
        try (Site source = new Site(UNIQUE_LOCAL);
                Site site = new Site(ANY)) {
            RegionGrant from = source.client.allocate();
            RegionGrant to = site.client.allocate();
            source.client.fill(from, 1);
            site.plane.pull(site.lease(), to.regionId(), source.control.address(), source.export(from));
            site.client.assertFilled(to, 1);
        }
        assertEquals(Set.of("fd00"), connected.of("openPull"));
    }

    /** The queue pair between the servers is of one family, and that of the client's pace of another. */
    @Test
    void aPacedPullIsOfItsClientsFamilyAndItsSources() {
        try (Site source = new Site(UNIQUE_LOCAL);
                Site site = new Site(ANY)) {
            RegionGrant from = source.client.allocate();
            RegionGrant to = site.client.allocate();
            source.client.fill(from, 2);
            byte[] token = source.export(from);
            System.setProperty("farheap.gid", LINK_LOCAL);
            try (PullLeader leader = new PullLeader()) {
                leader.prepare(site.plane, site.lease(), to, source.control.address(), token, 0, REGION);
                finish(site, to, source.control.address(), token, leader);
            }
            site.client.assertFilled(to, 2);
        }
        assertEquals(Set.of("fd00"), connected.of("openPull"));
        assertEquals(Set.of("fe80"), connected.of("preparePull"));
    }

    private static void finish(Site site, RegionGrant into, String source, byte[] token, PullLeader leader) {
        CompletableFuture<PullResult> pull =
                CompletableFuture.supplyAsync(() -> site.plane.pull(site.lease(), into.regionId(), source, token));
        leader.awaitCopied(0);
        leader.clear(REGION);
        leader.awaitCopied(REGION);
        assertEquals(REGION, pull.join().bytes());
    }

    /** Each of the sources is of another family, or of another version of RoCE. */
    @Test
    void aRebuildMeetsEachSource() {
        List<MemorySegment> splits = splits();
        try (Site first = new Site(UNIQUE_LOCAL);
                Site second = new Site(LINK_LOCAL);
                Site third = new Site(IPV4_V1);
                Site site = new Site(ANY)) {
            List<Site> sources = List.of(first, second, third);
            List<RebuildPlan.Source> from = new ArrayList<>();
            for (int split = 0; split < DATA; split++) {
                Site source = sources.get(split);
                RegionGrant region = source.client.allocate();
                write(source.client, region, splits.get(split));
                from.add(new RebuildPlan.Source(split, source.control.address(), source.export(region)));
            }
            RegionGrant into = site.client.allocate();
            RebuildPlan plan = new RebuildPlan(DATA, PARITY, DATA, from);
            try (PullLeader leader = new PullLeader()) {
                leader.prepare(site.plane, site.lease(), into, plan, 0, REGION);
                finish(site, into, from.getFirst().address(), from.getFirst().token(), leader);
            }
            for (long at = 0; at < REGION; at += PAGE) {
                assertEquals(WcStatus.SUCCESS, site.client.read(into, at));
                assertEquals(-1, site.client.page().mismatch(splits.get(DATA).asSlice(at, PAGE)), "at " + at);
            }
        }
        assertEquals(Set.of("fd00", "fe80", "0000"), connected.of("openPull"));
        assertEquals(Set.of("0000"), connected.of("prepareRebuild"));
    }

    private static void write(TestClient client, RegionGrant region, MemorySegment content) {
        for (long at = 0; at < REGION; at += PAGE) {
            MemorySegment.copy(content, at, client.page(), 0, PAGE);
            assertEquals(WcStatus.SUCCESS, client.write(region, at));
        }
    }

    private static List<MemorySegment> splits() {
        List<MemorySegment> splits = new ArrayList<>();
        long[] addresses = new long[DATA + PARITY];
        for (int split = 0; split < addresses.length; split++) {
            MemorySegment content = Arena.ofAuto().allocate(REGION, 64);
            for (int i = 0; split < DATA && i < REGION; i += 8) {
                content.set(JAVA_LONG, i, (i + 1L) * (split + 3) * 0x9E3779B97F4A7C15L);
            }
            splits.add(content);
            addresses[split] = content.address();
        }
        try (Coder coder = new Coder(ErasureCode.of(DATA, PARITY))) {
            coder.encode(addresses, REGION);
        }
        return splits;
    }
}
