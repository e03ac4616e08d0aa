package io.farheap.cli;

import io.farheap.server.contract.ServedCode;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** {@code off}, {@code built-in} or {@code java}. */
final class ServedCodeConverter implements ITypeConverter<ServedCode> {

    @Override
    public ServedCode convert(String text) {
        return switch (text) {
            case "off" -> ServedCode.OFF;
            case "built-in" -> ServedCode.BUILT_IN;
            case "java" -> ServedCode.JAVA;
            default ->
                throw new TypeConversionException(
                        "'" + text + "' are no procedures that a server can run; write off, built-in or java");
        };
    }
}
