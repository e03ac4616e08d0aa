package io.farheap.procedure.translate;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.translate.instruction.ClassGenerator;
import io.farheap.procedure.translate.instruction.RefusedProcedureException;
import io.farheap.procedure.translate.running.Stage;
import io.farheap.procedure.translate.running.Translation;
import io.farheap.testing.Effort;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A random class has the same results, bit by bit, as plain Java over an array and translated, in each way of running
 * it: also in slices of one unit of fuel, and with each access made elsewhere. {@code -Dfarheap.seed=S} repeats a seed.
 */
@Timeout(3600)
class GeneratedClassTest {

    private static final Long ONE = Long.getLong("farheap.seed");
    /** Enough classes to judge the generator by their outcomes. */
    private static final int COUNT = Effort.either(250, 2_500);

    private final long seed = ONE != null ? ONE : System.nanoTime();

    @Test
    void sameBits() {
        int count = ONE != null ? 1 : COUNT;
        int refused = 0;
        int done = 0;
        int ahead = 0;
        for (int i = 0; i < count; i++) {
            // Each class has a seed of its own, so that a failed one can be generated again alone.
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
                throw new AssertionError("repeat with -Dfarheap.seed=" + (seed + i), e);
            }
        }
        String came = count + " classes: " + refused + " refused, " + done + " calls returned, " + ahead
                + " with loops that are checked ahead; seed " + seed;
        System.out.println(came);
        assertTrue(ONE != null || (refused < count / 5 && done > count / 2 && ahead > count / 20), came);
    }
}
