package io.farheap.command;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Whole percentages as people write them: {@code 25%}. */
public final class Percent implements ITypeConverter<Integer> {

    private static final Pattern FORM = Pattern.compile("(\\d{1,3})%");

    @Override
    public Integer convert(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new TypeConversionException(
                    "'" + text + "' is not a part of a hundred; write a whole number with %, such as 25%");
        }
        return Integer.valueOf(form.group(1));
    }
}
