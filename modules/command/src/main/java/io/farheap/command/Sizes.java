package io.farheap.command;

import io.farheap.memory.ByteSize;
import java.util.Locale;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Sizes as people write them: {@code 4096}, {@code 512k}, {@code 64m}, {@code 1g}, {@code 2t}; powers of 1024, in
 * either case.
 */
public final class Sizes implements ITypeConverter<Long> {

    private static final String UNITS = "kmgt";

    @Override
    public Long convert(String text) {
        return parse(text);
    }

    public static long parse(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        int unit = lower.isEmpty() ? -1 : UNITS.indexOf(lower.charAt(lower.length() - 1));
        String digits = unit < 0 ? lower : lower.substring(0, lower.length() - 1);
        try {
            if (!digits.isEmpty() && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
                return Math.multiplyExact(Long.parseLong(digits), 1L << 10 * (unit + 1));
            }
        } catch (NumberFormatException | ArithmeticException e) {
            throw new TypeConversionException("'" + text + "' is more bytes than 64 bits can count");
        }
        throw new TypeConversionException(
                "'" + text + "' is not a size; write bytes, or a number with k, m, g or t, such as 64m");
    }

    /** Formats a size in the largest unit that divides it: {@code 64 MiB}, {@code 1 GiB}, {@code 1000 bytes}. */
    public static String format(long bytes) {
        return ByteSize.exact(bytes);
    }
}
