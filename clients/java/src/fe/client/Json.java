package fe.client;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A value of JSON: what is sent and what is answered. Numbers are BigDecimal, never binary floats.
 *
 * <p>`get` and `at` of what is not there give a value that is missing, so that a path can be followed without checks.
 */
public final class Json implements Iterable<Json> {
    private static final Json MISSING = new Json(null);
    private static final int DEEPEST = 100;

    /** A Map, a List, a String, a BigDecimal, a Boolean, or null. */
    private final Object value;

    private Json(Object value) {
        this.value = value;
    }

    /** An object of names and values in turn: `Json.object("TipoeCF", "31", "TipoPago", "1")`. */
    public static Json object(Object... namesAndValues) {
        if (namesAndValues.length % 2 != 0) {
            throw new IllegalArgumentException("names and values must come in pairs");
        }
        Map<String, Json> members = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            members.put((String) namesAndValues[i], of(namesAndValues[i + 1], (String) namesAndValues[i]));
        }
        return new Json(Collections.unmodifiableMap(members));
    }

    /** A list of values. */
    public static Json list(Object... values) {
        return of(List.of(values), "");
    }

    /**
     * Convert builders of Types, maps, lists, texts, whole numbers, BigDecimal, Boolean and null.
     *
     * <p>Throws IllegalArgumentException for a double or a float: its digits are not those that were typed.
     */
    public static Json of(Object given) {
        return of(given, "");
    }

    private static Json of(Object given, String path) {
        if (given instanceof Json json) {
            return json;
        } else if (given instanceof Types.Request<?> request) {
            return request.json();
        } else if (given instanceof Map<?, ?> map) {
            Map<String, Json> members = new LinkedHashMap<>();
            map.forEach((name, each) -> members.put((String) name, of(each, path.isEmpty() ? "" + name : path + "." + name)));
            return new Json(Collections.unmodifiableMap(members));
        } else if (given instanceof Iterable<?> values) {
            List<Json> items = new ArrayList<>();
            values.forEach(each -> items.add(of(each, path + "[" + items.size() + "]")));
            return new Json(Collections.unmodifiableList(items));
        } else if (given instanceof Integer || given instanceof Long || given instanceof Short) {
            return new Json(BigDecimal.valueOf(((Number) given).longValue()));
        } else if (given instanceof BigInteger whole) {
            return new Json(new BigDecimal(whole));
        } else if (given == null || given instanceof String || given instanceof BigDecimal || given instanceof Boolean) {
            return new Json(given);
        } else if (given instanceof Number) {
            throw new IllegalArgumentException(path + " is a binary float: give a BigDecimal or a text such as \"118.50\"");
        }
        throw new IllegalArgumentException(path + " is a " + given.getClass().getName() + ", and no value of JSON");
    }

    /** Read a text. Throws IllegalArgumentException where it is not JSON. */
    public static Json parse(String text) {
        Reader reader = new Reader(text);
        Json read = reader.value(0);
        reader.end();
        return read;
    }

    /** The member of this name; missing where there is none. */
    public Json get(String name) {
        return value instanceof Map<?, ?> map && map.get(name) instanceof Json json ? json : MISSING;
    }

    /** The item at this place, from 0; missing where there is none. */
    public Json at(int place) {
        List<Json> items = items();
        return place >= 0 && place < items.size() ? items.get(place) : MISSING;
    }

    /** The items of a list; empty for anything else. */
    @SuppressWarnings("unchecked")
    public List<Json> items() {
        return value instanceof List<?> ? (List<Json>) value : List.of();
    }

    /** The members of an object, in their order; empty for anything else. */
    @SuppressWarnings("unchecked")
    public Map<String, Json> members() {
        return value instanceof Map<?, ?> ? (Map<String, Json>) value : Map.of();
    }

    @Override
    public Iterator<Json> iterator() {
        return items().iterator();
    }

    /** The text, or the number as it was written; null for anything else. */
    public String text() {
        return value instanceof BigDecimal number ? number.toPlainString() : value instanceof String text ? text : null;
    }

    /** The number, also of a text such as "118.50"; null where there is none. */
    public BigDecimal amount() {
        return value instanceof BigDecimal number ? number : value instanceof String text ? new BigDecimal(text) : null;
    }

    /** Whether this is true. */
    public boolean isTrue() {
        return Boolean.TRUE.equals(value);
    }

    /** Whether this is false, and not merely missing. */
    public boolean isFalse() {
        return Boolean.FALSE.equals(value);
    }

    /** Whether this is null or missing. */
    public boolean isNull() {
        return value == null;
    }

    boolean isObject() {
        return value instanceof Map<?, ?>;
    }

    /** This as JSON. A number with a fraction is written as a text, which the service takes digit by digit. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder();
        write(out);
        return out.toString();
    }

    private void write(StringBuilder out) {
        if (value instanceof Map<?, ?>) {
            out.append('{');
            String comma = "";
            for (Map.Entry<String, Json> member : members().entrySet()) {
                out.append(comma);
                quote(member.getKey(), out);
                out.append(':');
                member.getValue().write(out);
                comma = ",";
            }
            out.append('}');
        } else if (value instanceof List<?>) {
            out.append('[');
            String comma = "";
            for (Json item : items()) {
                out.append(comma);
                item.write(out);
                comma = ",";
            }
            out.append(']');
        } else if (value instanceof BigDecimal number && number.scale() <= 0) {
            out.append(number.toPlainString());
        } else if (value instanceof BigDecimal || value instanceof String) {
            quote(text(), out);
        } else {
            out.append(value);
        }
    }

    private static void quote(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    private static final class Reader {
        private final String text;
        private int at;

        Reader(String text) {
            this.text = text;
        }

        Json value(int depth) {
            char c = next();
            if (depth > DEEPEST) {
                throw broken("is too deep");
            } else if (c == '{') {
                return object(depth);
            } else if (c == '[') {
                return list(depth);
            } else if (c == '"') {
                return new Json(string());
            } else if (c == '-' || (c >= '0' && c <= '9')) {
                return new Json(number());
            }
            for (Object literal : new Object[] {true, false, null}) {
                if (text.startsWith(String.valueOf(literal), at)) {
                    at += String.valueOf(literal).length();
                    return new Json(literal);
                }
            }
            throw broken("is no value");
        }

        void end() {
            while (at < text.length()) {
                if (" \t\r\n".indexOf(text.charAt(at++)) < 0) {
                    throw broken("goes on");
                }
            }
        }

        private Json object(int depth) {
            Map<String, Json> members = new LinkedHashMap<>();
            at++;
            boolean isFirst = true;
            while (!closes('}', isFirst)) {
                if (next() != '"') {
                    throw broken("has no name");
                }
                String name = string();
                if (next() != ':') {
                    throw broken("has no colon");
                }
                at++;
                members.put(name, value(depth + 1));
                isFirst = false;
            }
            return new Json(Collections.unmodifiableMap(members));
        }

        private Json list(int depth) {
            List<Json> items = new ArrayList<>();
            at++;
            while (!closes(']', items.isEmpty())) {
                items.add(value(depth + 1));
            }
            return new Json(Collections.unmodifiableList(items));
        }

        /** Whether this bracket comes; else take the comma before what follows. */
        private boolean closes(char bracket, boolean isFirst) {
            char c = next();
            if (c == bracket) {
                at++;
                return true;
            }
            if (!isFirst) {
                if (c != ',') {
                    throw broken("has no comma");
                }
                at++;
                if (next() == bracket) {
                    throw broken("ends with a comma");
                }
            }
            return false;
        }

        private String string() {
            StringBuilder out = new StringBuilder();
            for (at++; at < text.length(); at++) {
                char c = text.charAt(at);
                if (c == '"') {
                    at++;
                    return out.toString();
                } else if (c < ' ') {
                    throw broken("has a control character");
                } else if (c != '\\') {
                    out.append(c);
                    continue;
                }
                at++;
                char escaped = at < text.length() ? text.charAt(at) : ' ';
                int place = "\"\\/bfnrt".indexOf(escaped);
                if (escaped == 'u' && at + 4 < text.length()) {
                    out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                } else if (place >= 0) {
                    out.append("\"\\/\b\f\n\r\t".charAt(place));
                } else {
                    throw broken("has an escape that is none");
                }
            }
            throw broken("ends within a text");
        }

        private BigDecimal number() {
            int began = at;
            while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            return new BigDecimal(text.substring(began, at));
        }

        /** The next character that is no white space, which is not taken. */
        private char next() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            if (at == text.length()) {
                throw broken("ends too early");
            }
            return text.charAt(at);
        }

        private IllegalArgumentException broken(String how) {
            return new IllegalArgumentException("the JSON " + how + ", at " + at);
        }
    }
}
