package io.farheap.cache.order;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.RegionGrant;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteRegion;
import org.junit.jupiter.api.Test;

/** The order of requests that wait, and which reads cannot be repeated. */
class HeldRequestsTest {

    private static final long REGION = 4096;
    private static final int CAPACITY = 2;

    private final PostedRequests requests = new PostedRequests(CAPACITY);
    private final HeldRequests held = new HeldRequests(requests, table(), CAPACITY);

    private static RegionTable table() {
        RemoteRegion region = new RemoteRegion(null, 0, new RegionGrant(0, 0, 0, REGION), 1);
        return new RegionTable(new RemoteRegion[] {region}, REGION, REGION);
    }

    private PostedRequest request(boolean write, long address, long length) {
        if (requests.room() == 0) {
            requests.grow();
        }
        PostedRequest request = requests.take();
        request.fill(write, address, length, null, 0, (token, status) -> {}, 0);
        request.begin(length, 0);
        return request;
    }

    private PostedRequest hold(PostedRequest request, long sequence) {
        request.issuedAs(sequence);
        held.add(request);
        return request;
    }

    @Test
    void requestsOfAnotherPathAreBetweenThoseOfThisOne() {
        PostedRequest sixth = hold(request(false, 0, 8), 6);
        PostedRequest fourth = hold(request(false, 0, 8), 4);
        PostedRequest first = request(false, 0, 8);
        first.issuedBefore(5);
        held.add(first);
        PostedRequest second = request(false, 0, 8);
        second.issuedBefore(5);
        held.add(second);
        PostedRequest fifth = hold(request(false, 0, 8), 5);
        PostedRequest[] order = {fourth, first, second, fifth, sixth};
        assertEquals(order.length, held.count());
        for (int i = 0; i < order.length; i++) {
            assertSame(order[i], held.get(i), "place " + i);
            assertEquals(i > 0, held.isBehind(i, false));
        }
        assertTrue(first.precedes(5));
        assertFalse(first.precedes(4));
        assertFalse(fifth.precedes(5));
        assertTrue(fifth.precedes(6));
    }

    @Test
    void aReadIsOvertakenByAWriteThatMayHaveTakenEffect() {
        hold(request(true, 0, 64), 1);
        PostedRequest read = hold(request(false, 0, 64), 2);
        read.failure = new RequestFailure();
        hold(request(true, 64, 64), 3);
        hold(request(false, 0, 64), 4);
        PostedRequest unposted = hold(request(true, 0, 64), 5);
        unposted.restart();
        assertFalse(held.isOvertaken(1), "only by a later write that overlaps it and was posted");
        hold(request(true, 56, 8), 6);
        assertTrue(held.isOvertaken(1));
        held.remove(1);
        assertNull(read.failure);
    }

    @Test
    void aWriteThatWasNotPostedIsOvertakenByEachRequestThatMayHaveTakenEffect() {
        PostedRequest write = hold(request(true, 0, 64), 1);
        write.failure = new RequestFailure();
        write.restart();
        PostedRequest unposted = hold(request(false, 0, 64), 2);
        unposted.restart();
        hold(request(false, 64, 64), 3);
        assertFalse(held.isOvertaken(0), "only by a later one that overlaps it and was posted");
        hold(request(false, 56, 8), 4);
        assertTrue(held.isOvertaken(0));
    }
}
