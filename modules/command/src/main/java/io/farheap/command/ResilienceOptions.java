package io.farheap.command;

import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.contract.Resilience.Mode;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that give the resilience of a cache; without them it has none. */
public final class ResilienceOptions {

    private static final Pattern CODE = Pattern.compile("(\\d{1,3})\\+(\\d{1,3})");

    @Option(
            names = "--resilience",
            paramLabel = "K+R",
            description = "data and parity splits of a coded cache, such as 8+2, on K + R servers (default: not coded)")
    private @Nullable String code;

    @Option(
            names = "--mode",
            paramLabel = "MODE",
            description = "with --resilience: failure-recovery, corruption-detection, corruption-correction or ec-only "
                    + "(default: failure-recovery)")
    private @Nullable String mode;

    @Option(
            names = "--delta",
            paramLabel = "N",
            description = "with --resilience: additional splits that a read requests (default: 1, or 0 if R is 0)")
    private @Nullable Integer delta;

    @Option(
            names = "--page",
            paramLabel = "BYTES",
            description = "with --resilience: page size, a multiple of 64 * K (default: 4096, rounded up to that)")
    private @Nullable Integer page;

    /**
     * Returns null if there is none.
     *
     * @throws IllegalArgumentException if an option is out of its range, or given without the first
     */
    public @Nullable Resilience resilience() {
        if (code == null) {
            if (mode != null || delta != null || page != null) {
                throw new IllegalArgumentException("--mode, --delta and --page are of a coded cache; give --resilience "
                        + "K+R with them, or leave them out");
            }
            return null;
        }
        Matcher parts = CODE.matcher(code);
        if (!parts.matches()) {
            throw new IllegalArgumentException("--resilience " + code + ": it is K+R, such as 8+2");
        }
        Resilience asked = of(
                mode == null ? Mode.FAILURE_RECOVERY : mode(mode),
                Integer.parseInt(parts.group(1)),
                Integer.parseInt(parts.group(2)));
        asked = delta == null ? asked : asked.additional(delta);
        return page == null ? asked : asked.pageBytes(page);
    }

    /**
     * Returns the mode of a value of {@code --mode}.
     *
     * @throws IllegalArgumentException if there is no mode of that name
     */
    public static Mode mode(String name) {
        return Arrays.stream(Mode.values())
                .filter(each -> each.toString().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "--mode " + name + ": there are " + Arrays.toString(Mode.values())));
    }

    /** Returns a code of a mode, with so many data splits and parity splits. */
    public static Resilience of(Mode mode, int data, int parity) {
        return switch (mode) {
            case FAILURE_RECOVERY -> Resilience.failureRecovery(data, parity);
            case CORRUPTION_DETECTION -> Resilience.corruptionDetection(data, parity);
            case CORRUPTION_CORRECTION -> Resilience.corruptionCorrection(data, parity);
            case EC_ONLY -> Resilience.ecOnly(data, parity);
        };
    }
}
