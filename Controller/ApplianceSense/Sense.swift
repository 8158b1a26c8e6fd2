public enum Sense {}
