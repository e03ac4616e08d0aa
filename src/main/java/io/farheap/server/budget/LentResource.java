package io.farheap.server.budget;

import java.util.List;

/**
 * Something of a client's with what was lent for it, which goes back when it is closed. May be closed again, as long as
 * it is busy.
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
