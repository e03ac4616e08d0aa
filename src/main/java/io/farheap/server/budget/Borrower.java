package io.farheap.server.budget;

import io.farheap.control.ControlException;
import io.farheap.control.plane.Caller;
import org.jspecify.annotations.Nullable;

/**
 * Whom a server lends things to: the client of one lease.
 *
 * @param leaseId of its lease
 * @param clientName for people
 * @param caller whom the lease is for, or null for this process
 * @param budgets of the server
 */
public record Borrower(
        long leaseId, String clientName, @Nullable Caller caller, Budgets budgets) {

    /**
     * @param budget one of the server's
     * @throws ControlException INVALID_ARGUMENT where that would be too much
     */
    public Budget.Loan lend(Budget budget, long amount) {
        return budget.lend(caller, leaseId, amount);
    }
}
