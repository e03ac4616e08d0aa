package io.farheap.procedure.translate;

import java.io.Serial;

/** A class that is not in the subset, or too large. The message names class, line, instruction and rule. */
public final class RefusedProcedureException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    RefusedProcedureException(String message) {
        super(message);
    }
}
