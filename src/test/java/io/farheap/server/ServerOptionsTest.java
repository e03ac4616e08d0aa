package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.server.contract.ServerLimits;
import io.farheap.server.contract.ServerOptions;
import org.junit.jupiter.api.Test;

class ServerOptionsTest {

    private static final long SECOND = 1_000_000_000L;

    private static String refusal(long memory, long region, long lease) {
        return assertThrows(IllegalArgumentException.class, () -> new ServerOptions(memory, region, lease, "", "s"))
                .getMessage();
    }

    @Test
    void countsRegions() {
        assertEquals(16, new ServerOptions(1L << 30, 64 << 20, 3 * SECOND, "", "s").regions());
    }

    @Test
    void refusalsNameTheValueAndTheLimit() {
        assertTrue(refusal(1 << 20, 3 << 10, SECOND).contains("3 KiB"));
        assertTrue(refusal(1 << 20, 32 << 10, SECOND).contains("64 KiB"));
        assertTrue(refusal(1 << 20, 0, SECOND).contains("64 KiB"));
        assertTrue(refusal(1 << 20, -65536, SECOND).contains("-64 KiB"));
        assertTrue(refusal(100_000, 65536, SECOND).contains("multiple"));
        assertTrue(refusal(0, 65536, SECOND).contains("not 0"));
        assertTrue(refusal(1L << 40, 65536, SECOND).contains("1048576"));
        assertTrue(refusal(1 << 20, 65536, 1000).contains("100 ms"));
        assertTrue(refusal(1 << 20, 65536, Long.MAX_VALUE).contains("hour"));
    }

    @Test
    void aFailureDomainIsShortAndPrintable() {
        ServerOptions options = new ServerOptions(1 << 20, 1 << 20, SECOND, "", "s");
        assertEquals("", options.domain());
        assertEquals(
                "rack 7", options.domain("rack 7").limits(ServerLimits.DEFAULT).domain());
        assertTrue(domainRefusal(options, "x".repeat(257)).contains("257 characters"));
        assertTrue(domainRefusal(options, "a\nb").contains("U+000A"));
    }

    private static String domainRefusal(ServerOptions options, String domain) {
        return assertThrows(IllegalArgumentException.class, () -> options.domain(domain))
                .getMessage();
    }

    @Test
    void aLimitIsNotNegative() {
        String message = assertThrows(IllegalArgumentException.class, () -> new ServerLimits(0, -7, 0))
                .getMessage();
        assertTrue(message.contains("-7 queue pairs") && message.contains("at least 1"), message);
    }

    @Test
    void moreMemoryThanTheMachineHasIsRefusedBeforeItIsTaken() {
        ServerOptions huge = new ServerOptions(1L << 50, 1L << 30, SECOND, "", "s");
        String message = assertThrows(IllegalArgumentException.class, () -> ServerPlane.open(huge))
                .getMessage();
        assertTrue(message.contains("available"), message);
    }
}
