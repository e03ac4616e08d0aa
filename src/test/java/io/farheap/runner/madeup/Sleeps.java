package io.farheap.runner.madeup;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Never ends. */
class Sleeps {

    @Test
    void sleepsForEver() throws InterruptedException {
        TimeUnit.DAYS.sleep(1);
    }
}
