package io.farheap.runner;

import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Writes maps, lists, numbers and strings as JSON: the runner starts before any library is there. */
final class Json {

    private Json() {}

    static String of(Object value) {
        return switch (value) {
            case Map<?, ?> map -> {
                StringBuilder text = new StringBuilder("{");
                map.forEach((name, of) -> text.append(text.length() > 1 ? ", " : "")
                        .append(of(name))
                        .append(": ")
                        .append(of(of)));
                yield text.append("}").toString();
            }
            case List<?> list -> {
                StringBuilder text = new StringBuilder("[");
                list.forEach(of -> text.append(text.length() > 1 ? ",\n" : "").append(of(of)));
                yield text.append("]").toString();
            }
            case Double number -> String.format(Locale.ROOT, "%.1f", number);
            case Number number -> number.toString();
            default -> quoted(value.toString());
        };
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char at = text.charAt(i);
            if (at == '"' || at == '\\') {
                quoted.append('\\').append(at);
            } else if (at < ' ') {
                quoted.append(String.format("\\u%04x", (int) at));
            } else {
                quoted.append(at);
            }
        }
        return quoted.append('"').toString();
    }
}
