package io.farheap.command;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Durations as people write them: {@code 500ms}, {@code 3s}, {@code 2m}. A longer one than {@link #LONGEST} counts as
 * that, which means for ever.
 */
public final class Durations implements ITypeConverter<Duration> {

    /** 146 years. As nanoseconds it can be added to a clock's time, and the sum compared with later ones. */
    public static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE / 2);

    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(ms|s|m)");

    @Override
    public Duration convert(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new TypeConversionException(
                    "'" + text + "' is not a duration; write a number with ms, s or m, such as 3s");
        }
        long number = Long.parseLong(form.group(1));
        return capped(
                switch (form.group(2)) {
                    case "ms" -> Duration.ofMillis(number);
                    case "s" -> Duration.ofSeconds(number);
                    default -> Duration.ofMinutes(number);
                });
    }

    /** Returns a duration, but {@link #LONGEST} in place of a longer one. */
    public static Duration capped(Duration duration) {
        return duration.compareTo(LONGEST) > 0 ? LONGEST : duration;
    }
}
