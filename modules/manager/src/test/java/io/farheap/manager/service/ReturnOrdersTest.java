package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.server;
import static io.farheap.manager.service.TestCluster.share;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * A manager is cut off from two servers and two clients for minutes, and these return in any order, while another
 * manager leads or an operator gives a server up. Only the test advances the clock.
 */
class ReturnOrdersTest {

    private static final EventOrders ORDERS = new EventOrders(7, 5_040, 1_009);
    private static final int TRIALS = 60;

    /** Two servers, each with all regions of one cache, whose numbers are theirs and 6 more. */
    private static final class CutCluster {
        private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
        private final List<Reclaim> alerts = new ArrayList<>();

        CutCluster() {
            for (long server = 1; server <= 2; server++) {
                cluster.allocateOn(server, 6 + server, 4);
                cluster.attends(6 + server);
            }
            cluster.manager.tick();
        }

        void reports(long server) {
            Set<Long> over = cluster.manager
                    .report(server(server, "t", false, 4, Map.of(6 + server, 4)))
                    .ended();
            assertEquals(Set.of(), over);
        }

        /** A client names its cache, and claims it if the manager does not know it. */
        void renews(long server) {
            long cache = 6 + server;
            List<Long> unknown = new ArrayList<>();
            cluster.manager
                    .attend(server, new Unheard() {
                        @Override
                        public void reclaim(Reclaim alert) {
                            alerts.add(alert);
                        }

                        @Override
                        public void unknown(long cacheId) {
                            unknown.add(cacheId);
                        }
                    })
                    .renew(Set.of(cache));
            if (!unknown.isEmpty()) {
                try {
                    cluster.manager.claim(
                            new CacheRequest(cache, server, "cache", 4 * MIB, 0, "", List.of(AllocationCandidate.ANY)),
                            1,
                            MIB,
                            List.of(share(server, 4)));
                } catch (ControlException e) {
                    // Its server has not reported yet.
                }
            }
        }

        void givesUp() {
            try {
                cluster.manager.forget("host1:1");
            } catch (ControlException e) {
                // It reports, or may only not have found the manager yet.
            }
        }

        void happens(int event) {
            cluster.pass(700);
            switch (event) {
                case 0, 1 -> reports(1 + event);
                case 2, 3 -> renews(event - 1);
                case 4 -> cluster.manager.tick();
                case 5 -> cluster.lead();
                default -> givesUp();
            }
        }
    }

    @Test
    void allHearOfTheNextDrainInWhateverOrderTheyReturn() {
        ORDERS.tried(TRIALS, (number, order) -> {
            CutCluster all = new CutCluster();
            for (int i = 0; i < 100; i++) {
                all.cluster.pass(3_000);
                all.cluster.manager.tick();
            }
            order.forEach(all::happens);
            for (int i = 0; i < 2; i++) {
                all.reports(1);
                all.reports(2);
                all.renews(1);
                all.renews(2);
                all.cluster.manager.tick();
                all.cluster.pass(1_000);
            }
            assertEquals(Set.of(7L, 8L), all.cluster.store.caches.keySet());
            assertEquals(Map.of(1L, 4), all.cluster.record(7).regions());
            assertEquals(Map.of(2L, 4), all.cluster.record(8).regions());
            all.alerts.clear();
            all.cluster.manager.report(server(3, "t", false, 8, Map.of()));
            all.cluster.manager.drain("host1:1");
            all.cluster.manager.drain("host2:1");
            all.cluster.manager.tick();
            assertEquals(
                    Set.of(7L, 8L),
                    Set.copyOf(all.alerts.stream().map(Reclaim::cacheId).toList()));
            assertTrue(all.alerts.stream()
                    .allMatch(alert -> alert.server().equals("host" + (alert.cacheId() - 6) + ":1")));
        });
    }
}
