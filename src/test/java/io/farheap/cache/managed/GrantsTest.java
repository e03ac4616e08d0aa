package io.farheap.cache.managed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.control.CacheGrant;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SignedGrant;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.RegionShare;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** If a server refuses a grant, the cache shows it the grant of the manager that leads by then. */
class GrantsTest {

    private static final String SERVER = "10.0.0.1:7400";

    private int asked;
    private long epoch = 1;
    private final List<SignedGrant> shown = new ArrayList<>();

    private static SignedGrant grant(long epoch) {
        return SignedGrant.unsigned(new CacheGrant(7, 8, 1, CacheGrant.READ | CacheGrant.WRITE, 1000, epoch, 1));
    }

    private static Allocation allocation(SignedGrant grant) {
        return new Allocation(
                7, 1, 64, 64, AllocationCandidate.ANY, List.of(new RegionShare(SERVER, 1, grant)), List.of());
    }

    private final Grants grants = new Grants(() -> {
        asked++;
        epoch++;
        return allocation(grant(epoch));
    });

    /** A server that knows of an epoch and refuses grants of earlier ones. */
    private Function<SignedGrant, String> server(long knows) {
        return grant -> {
            shown.add(grant);
            if (grant.isNone() || grant.grant().epoch() < knows) {
                throw new ControlException(Code.GRANT_REFUSED, "of an earlier manager");
            }
            return "a lease";
        };
    }

    @Test
    void oneThatIsTakenIsNotAskedForAgain() {
        grants.put(allocation(grant(1)));
        assertEquals("a lease", grants.show(SERVER, server(1)));
        assertEquals(0, asked);
    }

    @Test
    void oneOfAnEarlierManagerIsAskedForAgainUntilItIsTaken() {
        grants.put(allocation(grant(1)));
        assertEquals("a lease", grants.show(SERVER, server(3)));
        assertEquals(2, asked);
        assertEquals(
                List.of(1L, 2L, 3L),
                shown.stream().map(grant -> grant.grant().epoch()).toList());
        assertEquals("a lease", grants.show(SERVER, server(3)));
        assertEquals(2, asked);
    }

    @Test
    void aServerThatWasNotNamedIsShownNone() {
        assertEquals("a lease", grants.show(SERVER, server(2)));
        assertSame(SignedGrant.NONE, shown.getFirst());
        assertEquals(1, asked);
    }

    @Test
    void whatIsAlwaysRefusedEnds() {
        ControlException e = assertThrows(ControlException.class, () -> grants.show(SERVER, server(1000)));
        assertEquals(Code.GRANT_REFUSED, e.code());
        assertEquals(4, asked);
    }

    @Test
    void anotherErrorIsTheCallers() {
        assertThrows(
                ControlException.class,
                () -> grants.show(SERVER, grant -> {
                    throw new ControlException(Code.UNAVAILABLE, "gone");
                }));
        assertEquals(0, asked);
    }

    @Test
    void aManagerThatCannotBeAskedIsToldBesideTheRefusal() {
        Grants silent = new Grants(() -> {
            throw new ControlException(Code.UNAVAILABLE, "no manager");
        });
        ControlException e = assertThrows(ControlException.class, () -> silent.show(SERVER, server(1)));
        assertEquals(Code.GRANT_REFUSED, e.code());
        assertEquals("no manager", e.getSuppressed()[0].getMessage());
    }
}
