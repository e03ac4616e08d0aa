package io.farheap.server.budget;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.plane.Caller;
import io.farheap.server.contract.ServerLimits;
import io.farheap.verbs.DeviceLimits;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class BudgetTest {

    private static final Caller A = new Caller("10.0.0.1", "/10.0.0.1:1");
    private static final Caller SAME_HOST = new Caller("10.0.0.1", "/10.0.0.1:2");
    private static final Caller THIRD = new Caller("10.0.0.1", "/10.0.0.1:3");
    private static final Caller FOURTH = new Caller("10.0.0.1", "/10.0.0.1:4");
    private static final Caller OTHER = new Caller("10.0.0.2", "/10.0.0.2:1");

    private final Budget budget = new Budget("things", false, 16, 1, 3, "use fewer", "buy more");
    private final List<Budget.Loan> loans = new ArrayList<>();

    private void lend(Caller caller, Object lease, int count) {
        for (int i = 0; i < count; i++) {
            loans.add(budget.lend(caller, lease, 1));
        }
    }

    private String refused(Caller caller, Object lease) {
        return assertThrows(ControlException.class, () -> budget.lend(caller, lease, 1))
                .getMessage();
    }

    @Test
    void eachHasAShareAndOthersTheRest() {
        lend(A, 1L, 3);
        String message = refused(A, 1L);
        assertEquals("the lease has 3 things, and 1 more asked for; the most is 3, so use fewer", message);
        lend(A, 2L, 1);
        message = refused(A, 2L);
        assertTrue(
                message.startsWith("the client at /10.0.0.1:1 has 4 things") && message.contains("the most is 4"),
                message);
        lend(SAME_HOST, 3L, 3);
        lend(SAME_HOST, 4L, 1);
        lend(THIRD, 5L, 3);
        lend(THIRD, 6L, 1);
        message = refused(FOURTH, 7L);
        assertTrue(message.startsWith("the clients of host 10.0.0.1 have 12 things"), message);
        lend(OTHER, 8L, 3);
        lend(null, 9L, 1);
        assertEquals(
                "the server has lent 16 things, and 1 more asked for; it lends 16 in all, so use fewer, or buy "
                        + "more",
                refused(null, 10L));
    }

    @Test
    void whatGoesBackIsLentAgainAndCountedOnce() {
        lend(A, 1L, 3);
        loans.getFirst().close();
        loans.getFirst().close();
        lend(A, 1L, 1);
        refused(A, 1L);
        loans.forEach(Budget.Loan::close);
        lend(null, 1L, 3);
        refused(null, 1L);
    }

    @Test
    void whoNeedsNoReasonGetsNone() {
        lend(A, 1L, 2);
        Budget.Loan third = budget.tryToLend(A, 1L, 1);
        assertTrue(third != null);
        assertNull(budget.tryToLend(A, 1L, 1));
        third.close();
        assertTrue(budget.tryToLend(A, 1L, 1) != null);
        assertTrue(budget.tryToLend(A, 2L, 1) != null);
        assertNull(budget.tryToLend(A, 3L, 1), "the client has its share");
        assertEquals(4, budget.lent());
        assertNull(budget.tryToLend(null, null, 13));
        assertTrue(budget.tryToLend(null, null, 12) != null);
    }

    /** However little memory a machine has left, no client takes all that procedures may have. */
    @Test
    void ofTheMemoryOfProceduresAClientHasAQuarter() {
        DeviceLimits device = new DeviceLimits(1 << 16, 1 << 16, 1 << 10, 1 << 10, 1L << 40, 16, 16, 1, true);
        for (long available = 1; available <= 1L << 40; available <<= 8) {
            Budget calls = Budgets.of(ServerLimits.DEFAULT, device, available).callBytes();
            assertTrue(4 * calls.client() <= calls.all(), available + " bytes are left");
            assertTrue(calls.client() >= 32 << 20, "it is enough for a lease");
            calls.lend(A, 1L, calls.client());
            assertNull(calls.tryToLend(A, 2L, 1));
            calls.lend(OTHER, 3L, calls.client());
        }
    }

    @Test
    void amountsDoNotOverflow() {
        assertThrows(ControlException.class, () -> budget.lend(A, 1L, Long.MAX_VALUE));
        lend(A, 1L, 3);
        assertThrows(ControlException.class, () -> budget.lend(A, 1L, Long.MAX_VALUE));
    }
}
