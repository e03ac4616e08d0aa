package io.farheap.procedure.translate.instruction;

import java.io.Serial;

/** A class that is not in the subset, or too large. The message names class, line, instruction and rule. */
public final class RefusedProcedureException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    public RefusedProcedureException(String message) {
        super(message);
    }
}
