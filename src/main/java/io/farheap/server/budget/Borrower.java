package io.farheap.server.budget;

import io.farheap.control.ControlException;
import io.farheap.control.plane.Caller;
import org.jspecify.annotations.Nullable;

/**
 * The borrower of a server's resources: the client of one lease.
 *
 * @param leaseId of its lease
 * @param clientName for people
 * @param caller the caller that the lease is for, or null if it is in this process
 * @param budgets of the server
 */
public record Borrower(
        long leaseId, String clientName, @Nullable Caller caller, Budgets budgets) {

    /**
     * Lends an amount.
     *
     * @param budget one of the server's
     * @throws ControlException INVALID_ARGUMENT if that exceeds a limit
     */
    public Budget.Loan lend(Budget budget, long amount) {
        return budget.lend(caller, leaseId, amount);
    }

    /**
     * Lends an amount.
     *
     * @return null if that exceeds a limit
     */
    public Budget.@Nullable Loan tryToLend(Budget budget, long amount) {
        return budget.tryToLend(caller, leaseId, amount);
    }
}
