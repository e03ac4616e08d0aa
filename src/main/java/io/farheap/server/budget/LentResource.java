package io.farheap.server.budget;

import java.util.List;

/**
 * A client's resource with the loans for it, which are given back when it is closed. To be closed again while it is
 * busy.
 */
@SuppressWarnings("try")
public record LentResource(AutoCloseable resource, List<Budget.Loan> loans) implements AutoCloseable {

    @Override
    public synchronized void close() throws Exception {
        resource.close();
        close(loans);
    }

    public static void close(List<Budget.Loan> loans) {
        loans.forEach(Budget.Loan::close);
    }
}
