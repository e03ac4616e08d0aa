package io.farheap.slo;

import java.io.IOException;

/** A performance model's file cannot be used; the message has the reason and a remedy. */
public final class ModelFileException extends IOException {

    ModelFileException(String message) {
        super(message);
    }
}
