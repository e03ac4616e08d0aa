package io.farheap.cli;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Latencies in microseconds as people write them: {@code 20}, {@code 20us}, {@code 1.5ms}, {@code 800ns}. */
final class LatencyMicros implements ITypeConverter<Double> {

    private static final Pattern FORM = Pattern.compile("(\\d+(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)(ns|us|ms|s|)");
    private static final Map<String, Double> MICROS = Map.of("ns", 1e-3, "us", 1.0, "", 1.0, "ms", 1e3, "s", 1e6);

    @Override
    public Double convert(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new TypeConversionException("'" + text
                    + "' is not a latency; write microseconds, or a number with ns, us, ms or s, such as 20us");
        }
        return Double.parseDouble(form.group(1)) * MICROS.getOrDefault(form.group(2), 1.0);
    }
}
