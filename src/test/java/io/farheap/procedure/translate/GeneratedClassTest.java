package io.farheap.procedure.translate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Random classes do the same, bit by bit, as plain Java over an array and translated, in each way: also in slices of
 * one unit of fuel, and with each access made elsewhere. {@code -Dfarheap.generated=100000} makes more of them,
 * {@code -Dfarheap.seed} those of one seed.
 */
@Timeout(3600)
class GeneratedClassTest {

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());

    @Test
    void sameBits() {
        int count = Integer.getInteger("farheap.generated", 2000);
        int refused = 0;
        int done = 0;
        int ahead = 0;
        for (int i = 0; i < count; i++) {
            // Each from a seed of its own: a failed one is made again alone, with count 1.
            Random random = new Random(seed + i);
            byte[] bytes = new ClassGenerator(random).generate();
            try (Stage stage = new Stage()) {
                Compiled compiled = Compiled.bytes(bytes);
                Translation translation = compiled.translated();
                ahead += translation.code().getClass().getDeclaredMethods().length > 2 ? 1 : 0;
                stage.fuel = 1L << 40;
                for (int run = i % 4; run < 5; run += 4) {
                    stage.fill(random);
                    stage.slices(random.nextLong());
                    long[] arguments = {random.nextLong(), random.nextInt(16_000), random.nextInt()};
                    done += stage.same(compiled, translation.code(), arguments).status() == CallStatus.DONE ? 1 : 0;
                }
                assertTrue(stage.guardsHold(), "bytes around the memory have changed");
            } catch (RefusedProcedureException e) {
                refused++;
                assertTrue(
                        e.getMessage().contains("translated it is")
                                || e.getMessage().contains("are needed after it"),
                        e.getMessage());
            } catch (Error | RuntimeException e) {
                throw new AssertionError("-Dfarheap.seed=" + (seed + i) + " -Dfarheap.generated=1", e);
            }
        }
        String came = count + " classes: " + refused + " refused, " + done + " calls returned, " + ahead
                + " with loops that are checked ahead; seed " + seed;
        System.out.println(came);
        assertTrue(count < 500 || (refused < count / 5 && done > count / 2 && ahead > count / 20), came);
    }
}
