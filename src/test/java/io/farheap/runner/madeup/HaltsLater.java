package io.farheap.runner.madeup;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Ends its JVM when it runs for the second time. */
@ParameterizedClass
@ValueSource(ints = {1, 2, 3})
class HaltsLater {

    @Parameter
    int time;

    @Test
    void passesOnce() {
        if (time == 2) {
            Runtime.getRuntime().halt(7);
        }
    }
}
